/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Spares the host the way around all vCPUs that QEMU takes at each PAUSE, where there is one (internals/quick_pause.h).
 *
 * BOOTLAB_QEMU_PAUSE=own in the environment leaves QEMU as it is: the same boot, at the host's cost. BOOTLAB_QEMU_PAUSE=told has
 * us say at the end how many PAUSEs went which way.
 */
#ifndef BOOTLAB_PAUSES_H
#define BOOTLAB_PAUSES_H

#include <stddef.h>

#include "qemu_plugin_api.h"

/* When QEMU loads us. Where this QEMU cannot be helped, boots take the host longer and measure the same. */
void pauses_open(const qemu_info_t *info);

/* Watch the block for a PAUSE at its end, and for what is to be over before one. */
void pauses_watch(struct qemu_plugin_tb *tb, size_t n_insns);

/* When the machine has ended. */
void pauses_close(void);

#endif
