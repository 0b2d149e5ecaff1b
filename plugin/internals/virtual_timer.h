/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls a function at a time of QEMU's virtual clock: what comes from outside the machine, at a time that repeats. No QEMU
 * headers.
 *
 * Under -icount the vCPU's thread runs such timers itself, between two blocks, when the clock has come to their time exactly.
 * QEMU then holds its big lock.
 */
#ifndef BOOTLAB_VIRTUAL_TIMER_H
#define BOOTLAB_VIRTUAL_TIMER_H

#include <stddef.h>
#include <stdint.h>

#include "lock.h"

struct virtual_timers {
	const int64_t *skipped_ns; /* how far QEMU's clock is ahead of the times that are given; it only grows */
	struct qemu_lock lock;
	void (*init)(void *timer, void *group, int clock, int scale, int attributes, void (*function)(void *opaque), void *opaque);
	void (*set)(void *timer, int64_t t_ns);
};

/*
 * Find them, and prove that a timer holds the time that it was given. `skipped_ns` must outlive it. 0, or -ENOTSUP with one line
 * in `message`.
 */
int virtual_timers_open(const int64_t *skipped_ns, char *message, size_t message_size, struct virtual_timers *ret);

/*
 * Call `function` once, at `t_ns`; at once if that is over. From a vCPU's thread or from such a call. `timers` must outlive it.
 * 0 or -ENOMEM.
 */
int virtual_timers_add(const struct virtual_timers *timers, int64_t t_ns, void (*function)(void *opaque), void *opaque);

#endif
