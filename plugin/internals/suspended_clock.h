/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lets QEMU's virtual clock go on while the machine is suspended to RAM (S3). No QEMU headers.
 *
 * Under -icount the clock is moved by instructions and, where no vCPU has anything to do, from timer to timer; QEMU does the
 * latter in a machine that runs only. One that is suspended stands still in its own time, and no alarm of its clock ever comes.
 * Here its main thread does the same for it: to the next timer, whatever that does, and so on until the machine has woken.
 */
#ifndef BOOTLAB_SUSPENDED_CLOCK_H
#define BOOTLAB_SUSPENDED_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "charged_clock.h"
#include "lock.h"

struct suspended_clock {
	struct charged_clock clock;
	struct qemu_lock lock;
	bool (*is_in_state)(int state);
	int suspended; /* QEMU's number of that state */
	int64_t (*deadline)(int clock, int attributes);
	bool (*run_timers)(int clock);
	void (*enable)(int clock, bool enabled);
	void (*notify)(int clock);
	int64_t (*now)(int clock);
	void (*init)(void *timer, void *group, int clock, int scale, int attributes, void (*function)(void *opaque), void *opaque);
	void (*set)(void *timer, int64_t t_ns);
	void *timer; /* of the host's clock, by which the main thread looks */
	bool slept;
};

/* Find what is needed and prove it, from the thread that runs all vCPUs. 0, or -ENOTSUP with one line in `message`. */
int suspended_clock_open(char *message, size_t message_size, struct suspended_clock *ret);

/* From now on, until the machine has been suspended and has woken. From a vCPU's thread, holding no lock of ours. Call it once. */
void suspended_clock_begin(struct suspended_clock *clock);

#endif
