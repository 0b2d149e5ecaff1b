/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds time to QEMU's virtual clock: what an event would take on another machine. No QEMU headers.
 *
 * Under -icount the clock is the instructions executed plus a bias, into which QEMU puts the idle time that it jumps over.
 * Where that bias is no name says. It is searched for in QEMU's `timers_state`, and it is what the clock follows when it is
 * changed: exactly one word may do that, or the feature is refused.
 */
#ifndef BOOTLAB_CHARGED_CLOCK_H
#define BOOTLAB_CHARGED_CLOCK_H

#include <stddef.h>
#include <stdint.h>

struct charged_clock {
	int64_t *bias;
	void (*leave)(void *cpu);
	void *const *cpu; /* the one that runs, of the thread that opened it */
};

/* Find it and prove it, from the thread that runs all vCPUs. 0, or -ENOTSUP with one line in `message`. */
int charged_clock_open(char *message, size_t message_size, struct charged_clock *ret);

/*
 * The guest's next block begins `ns` later, and timers that are due by then fire before it. From a vCPU's callback at the
 * start of a block. The result is a function of what the guest did: a boot with charges repeats like one without.
 */
void charged_clock_add(const struct charged_clock *clock, int64_t ns);

/* The same where no vCPU runs: with QEMU's lock held. */
void charged_clock_move(const struct charged_clock *clock, int64_t ns);

#endif
