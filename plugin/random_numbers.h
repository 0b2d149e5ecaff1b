/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells of a machine that goes on from a moment of its boot and asks its processor for a random number.
 *
 * QEMU draws these from a row that its -seed decides. The row begins with each process and is in no state that QEMU keeps: so
 * what a machine draws that goes on is not what it would have drawn.
 */
#ifndef BOOTLAB_RANDOM_NUMBERS_H
#define BOOTLAB_RANDOM_NUMBERS_H

#include <stddef.h>

#include "qemu_plugin_api.h"

/* Watch the block for such instructions, in a machine that has a past (config `past`). */
void random_numbers_watch(struct qemu_plugin_tb *tb, size_t n_insns);

#endif
