/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests how the word is found that the clock follows, wherever it is, and that a clock which follows none or two is refused. */
#include "internals/charged_clock.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"

enum { WORDS = 16 };

/* A QEMU whose clock is `instructions` of 4 ns and what is in the words `bias` and, if that is not -1, `second`. */
static struct {
	int bias, second, instructions, other_clock_lags;
	bool held;
	void *left;
} qemu;

int64_t timers_state[WORDS];
void *current_cpu;

void bql_lock_impl(const char *file, int line);
void bql_unlock(void);
bool bql_locked(void);
int64_t icount_get(void);
int64_t icount_get_raw(void);
int64_t icount_to_ns(int64_t instructions);
int64_t qemu_clock_get_ns(int clock);
void cpu_exit(void *cpu);

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

int64_t icount_get_raw(void)
{
	return timers_state[qemu.instructions];
}

int64_t icount_to_ns(int64_t instructions)
{
	return instructions * 4;
}

int64_t icount_get(void)
{
	CHECK(qemu.held); /* nobody else looks at the clock while it is tried */
	return icount_to_ns(icount_get_raw()) + timers_state[qemu.bias] + (qemu.second < 0 ? 0 : timers_state[qemu.second]);
}

int64_t qemu_clock_get_ns(int clock)
{
	CHECK(clock == 1);
	return icount_get() - qemu.other_clock_lags;
}

void cpu_exit(void *cpu)
{
	qemu.left = cpu;
}

static void set_up(int bias, int second, int instructions, int64_t idle_ns)
{
	memset(&qemu, 0, sizeof qemu);
	memset(timers_state, 0, sizeof timers_state);
	current_cpu = &qemu;
	qemu.bias = bias;
	qemu.second = second;
	qemu.instructions = instructions;
	timers_state[bias] = idle_ns;
	timers_state[WORDS - 1] = 77;
}

static void check_found(int bias, int instructions, int64_t idle_ns)
{
	struct charged_clock clock;
	int64_t before[WORDS];
	char message[128];

	set_up(bias, -1, instructions, idle_ns);
	memcpy(before, timers_state, sizeof before);
	CHECK(charged_clock_open(message, sizeof message, &clock) == 0);
	CHECK(clock.bias == &timers_state[bias] && !qemu.held && !qemu.left);
	CHECK(!memcmp(before, timers_state, sizeof before)); /* what was tried is as it was */
	charged_clock_add(&clock, 2500);
	CHECK(timers_state[bias] == idle_ns + 2500 && qemu.left == &qemu);
}

static void check_refused(const char *wanted)
{
	struct charged_clock clock;
	char message[128] = "";

	CHECK(charged_clock_open(message, sizeof message, &clock) == -ENOTSUP);
	if (strcmp(message, wanted))
		fprintf(stderr, "got: %s\n", message);
	CHECK(!strcmp(message, wanted) && !qemu.held);
}

int main(void)
{
	check_found(5, 3, 0); /* at power-on nearly all words hold the same */
	check_found(0, 14, 0);
	check_found(14, 1, 123456789);
	set_up(5, 6, 3, 0);
	check_refused("the clock follows 2 words of timers_state, not one");
	set_up(5, -1, 5, 0); /* the count itself moves the clock, and is not time */
	check_refused("the clock follows 0 words of timers_state, not one");
	set_up(5, -1, 3, 0);
	qemu.other_clock_lags = 1;
	check_refused("the clock follows 0 words of timers_state, not one");
	set_up(5, -1, 3, 0);
	current_cpu = NULL;
	check_refused("current_cpu is not set where the guest runs");
	puts("test_charged_clock: ok");
	return 0;
}
