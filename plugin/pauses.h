/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Spares the host QEMU's way around all vCPUs at each PAUSE of the only one (internals/quick_pause.h). */
#ifndef BOOTLAB_PAUSES_H
#define BOOTLAB_PAUSES_H

#include <stddef.h>

#include "config/config.h"
#include "qemu_plugin_api.h"

/* When QEMU loads us. Where this QEMU cannot be helped, boots take longer and measure the same. */
void pauses_open(const qemu_info_t *info, const struct config *config);

/* Watch the block for a PAUSE at its end. */
void pauses_watch(struct qemu_plugin_tb *tb, size_t n_insns);

#endif
