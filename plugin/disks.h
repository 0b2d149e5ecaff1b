/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Disks that answer at once: watches for the stores that ask them, and waits there. Asked for by the config's `exactdisks`. */
#ifndef BOOTLAB_DISKS_H
#define BOOTLAB_DISKS_H

#include <stddef.h>

#include "qemu_plugin_api.h"

/*
 * Prove that it works on this machine, and tell the trace: exact, or why it is refused, and then the disks stay as they are.
 * Before the first block runs, holding no lock of ours: QEMU's own is taken, and QEMU may hold that as it calls us.
 */
void disks_open(void);

/* Watch the block for such a store. */
void disks_watch(struct qemu_plugin_tb *tb, size_t n_insns);

#endif
