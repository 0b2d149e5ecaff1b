/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the guest asks its processor for at random: rdrand, rdseed, arm's RNDR, riscv's seed. QEMU draws them from a row that the
 * seed decides, and a process that goes on from a machine that another has kept begins the row anew: so what was drawn is counted,
 * and drawn again before the guest goes on. Where that cannot be, the trace says when the guest draws.
 */
#ifndef BOOTLAB_RANDOM_NUMBERS_H
#define BOOTLAB_RANDOM_NUMBERS_H

#include <stddef.h>

#include "qemu_plugin_api.h"

/* From the vCPU's thread, before the first block runs: of a machine that goes on, leave behind what was drawn before. */
void random_numbers_open(void);

/* With the recording's lock held, in a block of `n_insns` instructions: watch it where its machine is kept, or goes on. */
void random_numbers_watch(struct qemu_plugin_tb *tb, size_t n_insns);

/* With the recording's lock held: the machine stands still for good, write down how many were drawn. */
void random_numbers_keep(void);

#endif
