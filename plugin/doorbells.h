/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches for the stores by which the guest asks a device for something, and has it done there: disks answer at once (the
 * config's `exactdisks`), and what a network card has sent is on its wire (`network`).
 */
#ifndef BOOTLAB_DOORBELLS_H
#define BOOTLAB_DOORBELLS_H

#include <stddef.h>

#include "qemu_plugin_api.h"

/*
 * Prove that disks answer on this machine, and tell the trace: exact, or why it is refused, and then they stay as they are.
 * Before the first block runs, holding no lock of ours: QEMU's own is taken, and QEMU may hold that as it calls us.
 */
void doorbells_open(void);

/* Watch the block for such a store. */
void doorbells_watch(struct qemu_plugin_tb *tb, size_t n_insns);

#endif
