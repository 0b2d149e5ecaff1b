/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Has QEMU's main thread move the virtual clock to the next timer, as long as the machine is suspended. */
#include "suspended_clock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbols.h"

enum {
	QEMU_CLOCK_REALTIME = 0,
	QEMU_CLOCK_VIRTUAL = 1,
	SCALE_NS = 1,
	ALL_TIMERS = -1,
	/* As in virtual_timer.c. */
	TIMER_SIZE = 1024,
	/* How long the main thread waits until it looks again, of the host's time. */
	LOOK_NS = 1000000,
	SOON_NS = 3,
};

static void on_look(void *opaque);

static int find_states(const struct suspended_clock *clock, const void *names,
		       int (*find)(const void *names, const char *name, int otherwise, void **error), int *ret)
{
	int running = find(names, "running", -1, NULL), suspended = find(names, "suspended", -1, NULL);

	if (running < 0 || suspended < 0 || running == suspended || find(names, "bootlab-no-such-state", -1, NULL) != -1)
		return -ENOTSUP;
	*ret = suspended;
	return clock->is_in_state(running) && !clock->is_in_state(suspended) ? 0 : -ENOTSUP;
}

/* With a timer that is due soon the next one is not later. */
static bool deadline_is_next(const struct suspended_clock *clock, void (*unset)(void *timer))
{
	int64_t deadline;

	clock->init(clock->timer, NULL, QEMU_CLOCK_VIRTUAL, SCALE_NS, 0, on_look, NULL);
	clock->set(clock->timer, clock->now(QEMU_CLOCK_VIRTUAL) + SOON_NS);
	deadline = clock->deadline(QEMU_CLOCK_VIRTUAL, ALL_TIMERS);
	unset(clock->timer);
	return deadline >= 0 && deadline <= SOON_NS;
}

int suspended_clock_open(char *message, size_t message_size, struct suspended_clock *ret)
{
	struct suspended_clock clock = { .slept = false };
	int (*find)(const void *names, const char *name, int otherwise, void **error);
	void (*unset)(void *timer);
	const void *names;
	bool next;
	const struct wanted_symbol wanted[] = {
		{ "runstate_check", &clock.is_in_state },
		{ "RunState_lookup", &names },
		{ "qapi_enum_parse", &find },
		{ "qemu_clock_deadline_ns_all", &clock.deadline },
		{ "qemu_clock_run_timers", &clock.run_timers },
		{ "qemu_clock_enable", &clock.enable },
		{ "qemu_clock_notify", &clock.notify },
		{ "qemu_clock_get_ns", &clock.now },
		{ "timer_init_full", &clock.init },
		{ "timer_mod_ns", &clock.set },
		{ "timer_del", &unset },
	};
	int r = symbols_find(wanted, sizeof wanted / sizeof *wanted, message, message_size);

	if (!r)
		r = lock_open(message, message_size, &clock.lock);
	if (!r)
		r = charged_clock_open(message, message_size, &clock.clock);
	if (r)
		return r;
	if (find_states(&clock, names, find, &clock.suspended)) {
		snprintf(message, message_size, "QEMU does not tell by name whether its machine is suspended");
		return -ENOTSUP;
	}
	clock.timer = calloc(1, TIMER_SIZE);
	if (!clock.timer) {
		snprintf(message, message_size, "out of memory");
		return -ENOTSUP;
	}
	lock_take(&clock.lock);
	next = deadline_is_next(&clock, unset);
	lock_give(&clock.lock);
	if (next) {
		*ret = clock;
		return 0;
	}
	/* A timer that QEMU may still know of is left to it. */
	snprintf(message, message_size, "QEMU does not tell when its next timer is due");
	return -ENOTSUP;
}

static void look_in(struct suspended_clock *clock, int64_t ns)
{
	clock->set(clock->timer, clock->now(QEMU_CLOCK_REALTIME) + ns);
}

/* In QEMU's main thread, with its lock held. A timer that is due may wake the machine; it runs again when we have returned. */
static void on_look(void *opaque)
{
	struct suspended_clock *clock = opaque;
	int64_t deadline;

	if (!clock->is_in_state(clock->suspended)) {
		if (!clock->slept)
			look_in(clock, LOOK_NS);
		return;
	}
	/* QEMU has none of its timers run where no vCPU does. As it wakes it stops the clock again, and starts it for good. */
	if (!clock->slept)
		clock->enable(QEMU_CLOCK_VIRTUAL, true);
	clock->slept = true;
	deadline = clock->deadline(QEMU_CLOCK_VIRTUAL, ALL_TIMERS);
	if (deadline >= 0) {
		charged_clock_move(&clock->clock, deadline);
		clock->notify(QEMU_CLOCK_VIRTUAL);
		clock->run_timers(QEMU_CLOCK_VIRTUAL);
	}
	/* Without a timer nothing of its own wakes it; its host may. */
	look_in(clock, deadline < 0 ? LOOK_NS : 0);
}

void suspended_clock_begin(struct suspended_clock *clock)
{
	bool taken = lock_take_unless_held(&clock->lock);

	clock->init(clock->timer, NULL, QEMU_CLOCK_REALTIME, SCALE_NS, 0, on_look, clock);
	look_in(clock, LOOK_NS);
	if (taken)
		lock_give(&clock->lock);
}
