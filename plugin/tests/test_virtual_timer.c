/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the proof that timers keep their time, on functions of our own that do less than QEMU's. */
#include "internals/virtual_timer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* As QEMU's is: a struct that only these functions know. */
struct timer {
	int64_t t_ns;
	void (*function)(void *opaque);
	void *opaque;
};

static struct {
	bool held, rounds, stays;
	struct timer *latest;
	int fired;
} qemu;

void bql_lock_impl(const char *file, int line);
void bql_unlock(void);
bool bql_locked(void);
void timer_init_full(void *timer, void *group, int clock, int scale, int attributes, void (*function)(void *), void *opaque);
void timer_mod_ns(void *timer, int64_t t_ns);
bool timer_pending(void *timer);
uint64_t timer_expire_time_ns(void *timer);
void timer_del(void *timer);

void bql_lock_impl(const char *file, int line)
{
	(void)file;
	(void)line;
	qemu.held = true;
}

void bql_unlock(void)
{
	qemu.held = false;
}

bool bql_locked(void)
{
	return qemu.held;
}

void timer_init_full(void *timer, void *group, int clock, int scale, int attributes, void (*function)(void *), void *opaque)
{
	CHECK(qemu.held && !group && clock == 1 && scale == 1 && attributes == 0);
	qemu.latest = timer;
	*qemu.latest = (struct timer){ -1, function, opaque };
}

void timer_mod_ns(void *timer, int64_t t_ns)
{
	CHECK(qemu.held);
	((struct timer *)timer)->t_ns = qemu.rounds ? t_ns + 1 : t_ns;
}

bool timer_pending(void *timer)
{
	return ((struct timer *)timer)->t_ns >= 0;
}

uint64_t timer_expire_time_ns(void *timer)
{
	return (uint64_t)((struct timer *)timer)->t_ns;
}

void timer_del(void *timer)
{
	if (!qemu.stays)
		((struct timer *)timer)->t_ns = -1;
}

static void fire(void *opaque)
{
	*(int *)opaque += 1;
}

static void check_refused(void)
{
	struct virtual_timers timers;
	char message[128] = "";

	const int64_t skipped_ns = 0;

	CHECK(virtual_timers_open(&skipped_ns, message, sizeof message, &timers) == -ENOTSUP && !qemu.held);
	CHECK(!strcmp(message, "a timer does not keep the time that it was given"));
}

int main(void)
{
	struct virtual_timers timers;
	char message[128];

	int64_t skipped_ns = 0;

	CHECK(virtual_timers_open(&skipped_ns, message, sizeof message, &timers) == 0 && !qemu.held);
	CHECK(virtual_timers_add(&timers, 500000000, fire, &qemu.fired) == 0 && !qemu.held);
	CHECK(qemu.latest->t_ns == 500000000 && qemu.fired == 0);
	qemu.latest->function(qemu.latest->opaque); /* and the timer is gone */
	CHECK(qemu.fired == 1);
	qemu.held = true; /* as it is where a timer is due */
	CHECK(virtual_timers_add(&timers, 500000001, fire, &qemu.fired) == 0 && qemu.held);
	qemu.held = false;
	qemu.latest->function(qemu.latest->opaque);
	CHECK(qemu.fired == 2);
	/* A time that is skipped meanwhile is waited for as well. */
	CHECK(virtual_timers_add(&timers, 600000000, fire, &qemu.fired) == 0);
	skipped_ns = 1500;
	qemu.held = true;
	qemu.latest->function(qemu.latest->opaque);
	CHECK(qemu.fired == 2 && qemu.latest->t_ns == 600001500);
	qemu.held = false;
	qemu.latest->function(qemu.latest->opaque);
	CHECK(qemu.fired == 3);
	CHECK(virtual_timers_add(&timers, 700000000, fire, &qemu.fired) == 0 && qemu.latest->t_ns == 700001500);
	qemu.latest->function(qemu.latest->opaque);
	CHECK(qemu.fired == 4);
	skipped_ns = 0;
	qemu.rounds = true;
	check_refused();
	qemu.rounds = false;
	qemu.stays = true;
	check_refused();
	free(qemu.latest); /* which was left to a QEMU that may know of it */
	puts("test_virtual_timer: ok");
	return 0;
}
