/* SPDX-License-Identifier: MIT */
/* Holds the state of every unit in one table, and gives the states their names. */
#include "runs.h"

#include <string.h>

#include "pids.h"
#include "shared/clock.h"
#include "shared/own.h"
#include "timers.h"
#include "units/copy.h"

struct run *runs;
bool runs_ending;

static const struct run IDLE = {
	.exec_fd = -1, .output_fd = -1, .connections_fd = -1, .helper_fd = -1, .ready_fd = -1, .notify_fd = -1
};

static struct units *units;
static unsigned counts[STATES], serial_starting;

void runs_init(struct units *all)
{
	OWN_TABLE(runs, MAX_UNITS);
	units = all;
	runs_ending = false;
	serial_starting = 0;
	memset(counts, 0, sizeof counts);
	counts[STATE_OFF] = (unsigned)all->n_units;
	pids_init();
	timers_init();
	/* Those that there are: untouched pages of the tables are never handed out. */
	for (size_t i = 0; i < all->n_units; i++)
		runs[i] = IDLE;
}

void runs_succeed(struct units *all)
{
	for (size_t i = units->n_units; i < all->n_units; i++)
		runs[i] = IDLE;
	counts[STATE_OFF] += (unsigned)(all->n_units - units->n_units);
	units = all;
}

void runs_take_later(unit_id id)
{
	if (units->unit[id].on_disk == DISK_CHANGED)
		copy_take_later(units, id);
}

const struct units *runs_units(void)
{
	return units;
}

void runs_enter(unit_id id, enum state state)
{
	struct run *run = &runs[id];

	if (units->unit[id].serial)
		serial_starting = serial_starting + (state == STATE_STARTING) - (run->state == STATE_STARTING);
	counts[run->state]--;
	counts[state]++;
	run->state = (uint8_t)state;
	run->since_ns = clock_awake_ns();
	if (run->deadline_ns != 0)
		runs_set_deadline(id, 0);
	if (run->spawn_again || run->poll_pidfile || run->poll_leftovers)
		timers_set(id, TIMER_POLL, 0);
	run->spawn_again = run->poll_pidfile = run->poll_leftovers = false;
}

void runs_set_deadline(unit_id id, int64_t deadline_ns)
{
	runs[id].deadline_ns = deadline_ns;
	timers_set(id, TIMER_DEADLINE, deadline_ns);
}

static void poll_soon(unit_id id)
{
	bool wanted = runs[id].spawn_again || runs[id].poll_pidfile || runs[id].poll_leftovers;

	timers_set(id, TIMER_POLL, wanted ? clock_awake_ns() + RUNS_POLL_MS * NS_PER_MS : 0);
}

void runs_set_spawn_again(unit_id id, bool again)
{
	runs[id].spawn_again = again;
	poll_soon(id);
}

void runs_set_poll_pidfile(unit_id id, bool poll)
{
	runs[id].poll_pidfile = poll;
	poll_soon(id);
}

void runs_set_poll_leftovers(unit_id id, bool poll)
{
	runs[id].poll_leftovers = poll;
	poll_soon(id);
}

void runs_open_window(unit_id id)
{
	if (!runs[id].window_open)
		timers_set(id, TIMER_WINDOW, clock_awake_ns() + RUNS_WINDOW_MS * NS_PER_MS);
	runs[id].window_open = true;
}

void runs_close_window(unit_id id)
{
	struct run *run = &runs[id];

	run->window_open = false;
	run->taken_lines = run->taken_bytes = run->messages = 0;
}

void runs_set_pid(unit_id id, pid_t pid)
{
	pids_change(id, PID_COMMAND, runs[id].pid, pid);
	runs[id].pid = pid;
}

void runs_set_main(unit_id id, pid_t pid)
{
	pids_change(id, PID_MAIN, runs[id].main, pid);
	runs[id].main = pid;
}

unsigned runs_count(enum state state)
{
	return counts[state];
}

unsigned runs_serial_starting(void)
{
	return serial_starting;
}

void runs_extend(unit_id id, int64_t more_ns)
{
	int64_t now_ns = clock_awake_ns();

	if ((runs[id].state == STATE_STARTING || runs[id].state == STATE_STOPPING) && runs[id].deadline_ns > 0 &&
	    now_ns + more_ns > runs[id].deadline_ns)
		runs_set_deadline(id, now_ns + more_ns);
}

void runs_feed_watchdog(unit_id id)
{
	if (runs[id].state == STATE_UP)
		timers_set(id, TIMER_WATCHDOG, runs[id].watchdog_ns > 0 ? clock_awake_ns() + runs[id].watchdog_ns : 0);
}

void runs_set_watchdog(unit_id id, int64_t watchdog_ns)
{
	runs[id].watchdog_ns = watchdog_ns;
	runs_feed_watchdog(id);
}

void runs_starve_watchdog(unit_id id)
{
	if (runs[id].state == STATE_UP && runs[id].watchdog_ns > 0)
		timers_set(id, TIMER_WATCHDOG, 1);
}

const char *runs_state_name(enum state state)
{
	static const char *const NAMES[] = { "off",	 "waiting", "eligible", "starting", "up",
					     "stopping", "backoff", "failed",	"blocked", "left-out" };

	return NAMES[state];
}
