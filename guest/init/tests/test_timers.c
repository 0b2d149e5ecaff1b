/* SPDX-License-Identifier: MIT */
/* Tests the heap of timers and the table of pids against plain lists, over random changes. */
#include "state/timers.h"

#include "check.h"
#include "dice.h"
#include "state/pids.h"

enum { CHANGES = 200000, FEW = 300, PIDS = 40000, HELD = 6000 };

static void test_timers(void)
{
	static int64_t due[FEW][2];
	int64_t now_ns = 1, first_ns;
	enum timer timer;
	unit_id id;

	begin();
	timers_init();
	for (unsigned i = 0; i < CHANGES; i++) {
		id = (unit_id)below(FEW);
		timer = below(2) ? TIMER_POLL : TIMER_DEADLINE;
		due[id][timer] = below(4) ? now_ns + (int64_t)below(1000) : 0;
		timers_set(id, timer, due[id][timer]);
		first_ns = INT64_MAX;
		for (size_t j = 0; j < FEW * 2; j++)
			if (due[j / 2][j % 2] && due[j / 2][j % 2] < first_ns)
				first_ns = due[j / 2][j % 2];
		CHECK(timers_next_ns() == first_ns);
		now_ns += below(8);
		while (timers_take(now_ns, &id, &timer)) {
			CHECK(due[id][timer] == first_ns || due[id][timer] <= now_ns);
			CHECK(due[id][timer] > 0);
			due[id][timer] = 0;
		}
	}
	timers_init();
	CHECK(timers_next_ns() == INT64_MAX && !timers_take(INT64_MAX, &id, &timer));
}

static void test_pids(void)
{
	static unit_id owner[PIDS];
	static pid_t held[HELD][2];

	for (size_t i = 0; i < PIDS; i++)
		owner[i] = NO_UNIT;
	pids_init();
	for (unsigned i = 0; i < CHANGES; i++) {
		unit_id id = (unit_id)below(HELD);
		enum pid_kind kind = below(2) ? PID_MAIN : PID_COMMAND;
		pid_t pid = (pid_t)below(PIDS);

		if (owner[pid] != NO_UNIT)
			pid = 0;
		pids_change(id, kind, held[id][kind], pid);
		owner[held[id][kind]] = NO_UNIT;
		held[id][kind] = pid;
		if (pid > 0)
			owner[pid] = id;
		pid = (pid_t)below(PIDS);
		CHECK(pids_owner(pid) == (pid ? owner[pid] : NO_UNIT));
	}
	pids_init();
	for (pid_t pid = 0; pid < PIDS; pid++)
		CHECK(pids_owner(pid) == NO_UNIT);
}

int main(void)
{
	test_timers();
	test_pids();
	puts("test_timers: ok");
	return 0;
}
