/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has QEMU count what a vCPU has executed before it halts.
 *
 * QEMU's main loop moves the virtual clock on to the next timer when every vCPU is halted. A vCPU is so as soon as its halt is
 * executed; what it has executed since it was let run is counted a moment later. A main loop that wakes in between, for a
 * disk's answer, say, moves the clock by as much too far, and the next timer is late.
 */
#ifndef BOOTLAB_HALTS_H
#define BOOTLAB_HALTS_H

#include <stddef.h>

#include "qemu_plugin_api.h"

/* When QEMU loads us. */
void halts_open(const qemu_info_t *info);

/* Watch the block for a halt at its end. Only on the virtual clock is there anything to do. */
void halts_watch(struct qemu_plugin_tb *tb, size_t n_insns);

#endif
