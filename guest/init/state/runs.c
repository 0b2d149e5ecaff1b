/* SPDX-License-Identifier: MIT */
#include "runs.h"

#include "shared/clock.h"

struct run runs[MAX_UNITS];
bool runs_ending;

static const struct units *units;
static unsigned starting;

void runs_init(const struct units *all)
{
	units = all;
	/* Those that there are: untouched pages of the tables are never handed out. */
	for (size_t i = 0; i < all->n_units; i++)
		runs[i].exec_fd = runs[i].output_fd = runs[i].helper_fd = runs[i].ready_fd = runs[i].notify_fd = -1;
}

const struct units *runs_units(void)
{
	return units;
}

void runs_enter(unit_id id, enum state state)
{
	struct run *run = &runs[id];
	bool takes_slot = state == STATE_STARTING;

	starting = starting + takes_slot - run->takes_slot;
	run->takes_slot = takes_slot;
	run->state = (uint8_t)state;
	run->since_ns = clock_now_ns();
	run->deadline_ns = 0;
	run->spawn_again = run->poll_pidfile = false;
}

unsigned runs_starting(void)
{
	return starting;
}

void runs_extend(unit_id id, int64_t more_ns)
{
	int64_t now_ns = clock_now_ns();

	if ((runs[id].state == STATE_STARTING || runs[id].state == STATE_STOPPING) && runs[id].deadline_ns > 0 &&
	    now_ns + more_ns > runs[id].deadline_ns)
		runs[id].deadline_ns = now_ns + more_ns;
}

const char *runs_state_name(enum state state)
{
	static const char *const NAMES[] = { "off",	 "waiting", "eligible", "starting", "up",
					     "stopping", "backoff", "failed",	"blocked" };

	return NAMES[state];
}
