/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The marks of a boot: kernel functions that are reached, the first user instruction, and what the guest announces itself.
 *
 * Only translation blocks that hold a mark get a callback, so everything else runs at QEMU's own speed. Callbacks are
 * plain ones, never QEMU's inline or conditional operations: with several vCPUs under -icount QEMU 10.0's corrupt the
 * guest (its gen_cpu_index() hands out a shared constant that gen_plugin_u64_ptr() then multiplies in place).
 *
 * Reading the virtual clock is legal only at the start of a block (elsewhere QEMU exits with "Bad icount read"), so a
 * mark must be where a block starts. A function's first instruction is: it is reached by a call.
 */
#ifndef BOOTLAB_MARKS_H
#define BOOTLAB_MARKS_H

#include <stdint.h>

#include "config/config.h"
#include "qemu_plugin_api.h"

/* Look for those of recording.config. 0 or -ENOMEM. */
int marks_open(void);

/*
 * Before the first block runs, holding no lock of ours: prove that the clock can be charged and timers be set, where the config
 * asks for that, and tell the trace.
 */
void marks_start(void);

/* The network's peer has made a mark: it is reached now. From a vCPU's thread, holding no lock of ours. */
void marks_answered(const char *name);

/* The probe that finds the kernel's or an image's entry at `address`, where a block starts; NULL: none does. */
const struct probe *marks_find_entry(uint64_t address);

/* How far the kernel is from its link addresses; NULL while that is unknown. */
const uint64_t *marks_slide(void);

/* Watch the block for all that may happen at its start. */
void marks_watch(struct qemu_plugin_tb *tb);

#endif
