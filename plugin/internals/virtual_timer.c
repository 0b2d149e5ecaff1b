/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes QEMU timers of our own, once it is proved what the functions for them do. */
#include "virtual_timer.h"

#include <errno.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "lock.h"
#include "symbols.h"

enum {
	QEMU_CLOCK_VIRTUAL = 1,
	SCALE_NS = 1,
	/* QEMUTimer has 48 bytes in QEMU 10.0; QEMU's own functions alone look into it. */
	TIMER_SIZE = 1024,
};

/* A timer that is gone once it has been due: QEMU forgets it before it calls. */
struct call {
	alignas(max_align_t) unsigned char timer[TIMER_SIZE];
	const struct virtual_timers *timers;
	int64_t t_ns, skipped_ns; /* when, and what had been skipped as the timer was set */
	void (*function)(void *opaque);
	void *opaque;
};

/* Far behind the end of any boot: three years. */
static const int64_t LATER_NS = INT64_C(100000000) * 1000000000;

static void ignore(void *opaque)
{
	(void)opaque;
}

int virtual_timers_open(const int64_t *skipped_ns, char *message, size_t message_size, struct virtual_timers *ret)
{
	struct virtual_timers timers = { .skipped_ns = skipped_ns };
	bool (*is_set)(void *timer);
	uint64_t (*time_of)(void *timer);
	void (*unset)(void *timer);
	bool kept, gone;
	void *timer;
	const struct wanted_symbol wanted[] = {
		{ "timer_init_full", &timers.init }, { "timer_mod_ns", &timers.set }, { "timer_pending", &is_set },
		{ "timer_expire_time_ns", &time_of }, { "timer_del", &unset },
	};
	int r = symbols_find(wanted, sizeof wanted / sizeof *wanted, message, message_size);

	if (!r)
		r = lock_open(message, message_size, &timers.lock);
	if (r)
		return r;
	timer = calloc(1, TIMER_SIZE);
	if (!timer) {
		snprintf(message, message_size, "out of memory");
		return -ENOTSUP;
	}
	lock_take(&timers.lock);
	timers.init(timer, NULL, QEMU_CLOCK_VIRTUAL, SCALE_NS, 0, ignore, NULL);
	kept = !is_set(timer);
	timers.set(timer, LATER_NS);
	kept = kept && is_set(timer) && time_of(timer) == (uint64_t)LATER_NS;
	unset(timer);
	gone = !is_set(timer);
	lock_give(&timers.lock);
	/* One that QEMU may still know of is left to it. */
	if (gone)
		free(timer);
	if (kept && gone) {
		*ret = timers;
		return 0;
	}
	snprintf(message, message_size, "a timer does not keep the time that it was given");
	return -ENOTSUP;
}

static void set_call(struct call *call)
{
	call->skipped_ns = *call->timers->skipped_ns;
	call->timers->set(call->timer, call->t_ns + call->skipped_ns);
}

static void on_due(void *opaque)
{
	struct call call = *(struct call *)opaque;

	/* What was skipped since then is still to come. */
	if (call.skipped_ns != *call.timers->skipped_ns) {
		set_call(opaque);
		return;
	}
	free(opaque);
	call.function(call.opaque);
}

int virtual_timers_add(const struct virtual_timers *timers, int64_t t_ns, void (*function)(void *opaque), void *opaque)
{
	struct call *call = calloc(1, sizeof *call);
	bool taken;

	if (!call)
		return -ENOMEM;
	call->timers = timers;
	call->t_ns = t_ns;
	call->function = function;
	call->opaque = opaque;
	taken = lock_take_unless_held(&timers->lock);
	timers->init(call->timer, NULL, QEMU_CLOCK_VIRTUAL, SCALE_NS, 0, on_due, call);
	set_call(call);
	if (taken)
		lock_give(&timers->lock);
	return 0;
}
