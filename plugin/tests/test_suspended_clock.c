/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests how the clock of a suspended machine goes from timer to timer, on a QEMU of our own, and what is refused. */
#include "internals/suspended_clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { HOST = 0, VIRTUAL = 1, RUNNING = 9, SUSPENDED = 12, BIAS = 5, INSTRUCTIONS = 3, WORDS = 16 };

/* As QEMU's is: a struct that only these functions know. */
struct timer {
	int clock;
	int64_t t_ns; /* -1: not set */
	void (*function)(void *opaque);
	void *opaque;
};

static struct {
	bool held, names_alike, deadline_lags, stopped;
	int state, notified;
	int64_t host_ns;
	struct timer *look; /* of the host's clock */
	struct timer *probe; /* of the virtual clock, as the proof sets it */
	int64_t alarms_ns[3]; /* timers of the machine; -1: none */
	int fired;
} qemu;

int64_t timers_state[WORDS];
void *current_cpu = &qemu;
const int RunState_lookup = 0;

void bql_lock_impl(const char *file, int line);
void bql_unlock(void);
bool bql_locked(void);
int64_t icount_get(void);
int64_t icount_get_raw(void);
int64_t icount_to_ns(int64_t instructions);
int64_t qemu_clock_get_ns(int clock);
void cpu_exit(void *cpu);
bool runstate_check(int state);
int qapi_enum_parse(const void *names, const char *name, int otherwise, void **error);
int64_t qemu_clock_deadline_ns_all(int clock, int attributes);
bool qemu_clock_run_timers(int clock);
void qemu_clock_enable(int clock, bool enabled);
void qemu_clock_notify(int clock);
void timer_init_full(void *timer, void *group, int clock, int scale, int attributes, void (*function)(void *), void *opaque);
void timer_mod_ns(void *timer, int64_t t_ns);
void timer_del(void *timer);

void bql_lock_impl(const char *file, int line)
{
	(void)file;
	(void)line;
	CHECK(!qemu.held);
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

int64_t icount_get_raw(void)
{
	return timers_state[INSTRUCTIONS];
}

int64_t icount_to_ns(int64_t instructions)
{
	return instructions;
}

int64_t icount_get(void)
{
	return icount_get_raw() + timers_state[BIAS];
}

int64_t qemu_clock_get_ns(int clock)
{
	return clock == VIRTUAL ? icount_get() : qemu.host_ns;
}

void cpu_exit(void *cpu)
{
	(void)cpu;
	CHECK(!"no vCPU runs");
}

bool runstate_check(int state)
{
	return state == qemu.state;
}

int qapi_enum_parse(const void *names, const char *name, int otherwise, void **error)
{
	CHECK(names == &RunState_lookup && !error);
	if (!strcmp(name, "running"))
		return RUNNING;
	if (!strcmp(name, "suspended"))
		return qemu.names_alike ? RUNNING : SUSPENDED;
	return otherwise;
}

static int64_t *next_alarm(void)
{
	int64_t *next = NULL;

	for (size_t i = 0; i < 3; i++)
		if (qemu.alarms_ns[i] >= 0 && (!next || qemu.alarms_ns[i] < *next))
			next = &qemu.alarms_ns[i];
	return next;
}

int64_t qemu_clock_deadline_ns_all(int clock, int attributes)
{
	const int64_t *next = next_alarm();
	int64_t t_ns = next ? *next : -1;

	CHECK(clock == VIRTUAL && attributes == -1 && qemu.held);
	if (qemu.stopped)
		return -1;
	if (qemu.deadline_lags)
		return 1000;
	if (qemu.probe && qemu.probe->t_ns >= 0 && (t_ns < 0 || qemu.probe->t_ns < t_ns))
		t_ns = qemu.probe->t_ns;
	if (t_ns < 0)
		return -1;
	return t_ns > icount_get() ? t_ns - icount_get() : 0;
}

/* The last alarm wakes the machine. */
bool qemu_clock_run_timers(int clock)
{
	int64_t *next = next_alarm();

	CHECK(clock == VIRTUAL && qemu.held && qemu.notified);
	if (!next || *next > icount_get())
		return false;
	*next = -1;
	qemu.fired++;
	if (!next_alarm())
		qemu.state = RUNNING;
	return true;
}

void qemu_clock_enable(int clock, bool enabled)
{
	CHECK(clock == VIRTUAL && enabled && qemu.held);
	qemu.stopped = false;
}

void qemu_clock_notify(int clock)
{
	CHECK(clock == VIRTUAL);
	qemu.notified++;
}

void timer_init_full(void *timer, void *group, int clock, int scale, int attributes, void (*function)(void *), void *opaque)
{
	CHECK(qemu.held && !group && scale == 1 && attributes == 0);
	*(struct timer *)timer = (struct timer){ clock, -1, function, opaque };
	if (clock == VIRTUAL)
		qemu.probe = timer;
	else
		qemu.look = timer;
}

void timer_mod_ns(void *timer, int64_t t_ns)
{
	CHECK(qemu.held);
	((struct timer *)timer)->t_ns = t_ns;
}

void timer_del(void *timer)
{
	((struct timer *)timer)->t_ns = -1;
}

static void set_up(void)
{
	memset(&qemu, 0, sizeof qemu);
	memset(timers_state, 0, sizeof timers_state);
	timers_state[WORDS - 1] = 77;
	timers_state[INSTRUCTIONS] = 1000;
	qemu.state = RUNNING;
	memset(qemu.alarms_ns, -1, sizeof qemu.alarms_ns);
}

/* Its vCPUs are paused, and with them the clock is stopped. */
static void fall_asleep(void)
{
	qemu.state = SUSPENDED;
	qemu.stopped = true;
}

/* The main thread's work, once. */
static void run_host(void)
{
	struct timer look = *qemu.look;

	CHECK(look.clock == HOST && look.t_ns >= qemu.host_ns);
	qemu.host_ns = look.t_ns;
	qemu.look->t_ns = -1;
	qemu.held = true;
	look.function(look.opaque);
	qemu.held = false;
}

static void check_refused(const char *wanted)
{
	struct suspended_clock clock;
	char message[128] = "";

	CHECK(suspended_clock_open(message, sizeof message, &clock) == -ENOTSUP);
	if (strcmp(message, wanted))
		fprintf(stderr, "got: %s\n", message);
	CHECK(!strcmp(message, wanted) && !qemu.held);
}

static void test_it_goes_from_timer_to_timer(void)
{
	struct suspended_clock clock;
	char message[128];

	set_up();
	CHECK(suspended_clock_open(message, sizeof message, &clock) == 0 && !qemu.held && qemu.probe->t_ns < 0);
	suspended_clock_begin(&clock);
	qemu.alarms_ns[0] = 7000000;
	qemu.alarms_ns[1] = 2000;
	/* It has not fallen asleep yet: the clock is the vCPU's. */
	run_host();
	CHECK(icount_get() == 1000 && !qemu.fired && qemu.host_ns == 1000000);
	fall_asleep();
	run_host();
	CHECK(icount_get() == 2000 && qemu.fired == 1 && qemu.look->t_ns == qemu.host_ns);
	run_host();
	CHECK(icount_get() == 7000000 && icount_get_raw() == 1000 && qemu.fired == 2 && qemu.state == RUNNING);
	/* It is awake, and nobody looks any more. */
	run_host();
	CHECK(icount_get() == 7000000 && qemu.look->t_ns < 0);
	free(clock.timer);
}

static void test_without_a_timer_it_stands_still_until_its_host_wakes_it(void)
{
	struct suspended_clock clock;
	char message[128];

	set_up();
	CHECK(suspended_clock_open(message, sizeof message, &clock) == 0);
	suspended_clock_begin(&clock);
	fall_asleep();
	run_host();
	CHECK(icount_get() == 1000 && qemu.look->t_ns == qemu.host_ns + 1000000);
	qemu.state = RUNNING;
	run_host();
	CHECK(icount_get() == 1000 && qemu.look->t_ns < 0);
	free(clock.timer);
}

int main(void)
{
	test_it_goes_from_timer_to_timer();
	test_without_a_timer_it_stands_still_until_its_host_wakes_it();
	set_up();
	qemu.names_alike = true;
	check_refused("QEMU does not tell by name whether its machine is suspended");
	set_up();
	qemu.state = SUSPENDED;
	check_refused("QEMU does not tell by name whether its machine is suspended");
	set_up();
	qemu.deadline_lags = true;
	check_refused("QEMU does not tell when its next timer is due");
	free(qemu.probe); /* which was left to a QEMU that may know of it */
	puts("test_suspended_clock: ok");
	return 0;
}
