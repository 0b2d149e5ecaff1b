/* SPDX-License-Identifier: MIT */
#include "supervise.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "goal.h"
#include "lifecycle.h"
#include "pressure.h"
#include "process/sockets.h"
#include "schedule.h"
#include "shared/clock.h"
#include "state/account.h"
#include "state/log.h"

static const struct units *units;

static void on_settled(unit_id id);

void supervise_init(const struct units *all, const struct config *config)
{
	units = all;
	runs_init(all);
	sockets_init(all);
	lifecycle_init(all, on_settled);
	goal_init(all, config);
}

/* ---- Dependencies ---------------------------------------------------------------------------------------------------- */

static void consider_dependents(unit_id id);

static void consider(unit_id id)
{
	enum verdict verdict;
	unit_id other;

	if (runs[id].state != STATE_WAITING)
		return;
	verdict = schedule_dependencies(units, id, &other);
	if (verdict == DEPENDENCIES_THERE) {
		runs_enter(id, STATE_ELIGIBLE);
		account_add(ACCOUNT_ELIGIBLE, id, 0, units->unit[id].goal, 0);
	} else if (verdict == DEPENDENCIES_FAILED) {
		snprintf(runs[id].why, sizeof runs[id].why, "needs %s, which is %s", units->unit[other].name,
			 runs_state_name(runs[other].state));
		account_add(ACCOUNT_BLOCKED, id, 0, 0, 0);
		runs_enter(id, STATE_BLOCKED);
		sockets_close(units, id);
		consider_dependents(id);
	}
}

/* Those that wait for `id` may go on, or never. */
static void consider_dependents(unit_id id)
{
	for (uint16_t e = units->unit[id].edges_in; e != NO_EDGE; e = units->edges[e].next_of_to)
		consider(units->edges[e].from);
}

/* ---- What the user, or the boot, wants --------------------------------------------------------------------------------- */

static void wait_for_start(unit_id id)
{
	struct run *run = &runs[id];

	if (run->state != STATE_OFF && run->state != STATE_FAILED && run->state != STATE_BLOCKED &&
	    run->state != STATE_BACKOFF)
		return;
	run->stop_wanted = run->start_wanted = false;
	runs_enter(id, STATE_WAITING);
	account_add(ACCOUNT_WAITING, id, 0, 0, 0);
	if (units->unit[id].broken)
		lifecycle_fail(id, "%s", units->unit[id].why_broken ? units->unit[id].why_broken : "its file is wrong");
}

void supervise_boot(void)
{
	for (size_t i = 0; i < units->n_units; i++)
		if (units->unit[i].wanted)
			wait_for_start((unit_id)i);
	for (size_t i = 0; i < units->n_units; i++)
		consider((unit_id)i);
}

static void start_with_needs(unit_id id)
{
	enum state state = runs[id].state;

	if (state == STATE_WAITING || state == STATE_ELIGIBLE || state == STATE_STARTING || state == STATE_UP)
		return;
	if (state == STATE_STOPPING) {
		runs[id].start_wanted = true;
		return;
	}
	wait_for_start(id);
	for (uint16_t e = units->unit[id].edges_out; e != NO_EDGE; e = units->edges[e].next_of_from)
		if (units->edges[e].relation <= RELATION_WANTS && (units->edges[e].when & AT_START))
			start_with_needs(units->edges[e].to);
	consider(id);
}

int supervise_start(struct slice name)
{
	unit_id id = units_find(units, name);

	if (id == NO_UNIT)
		return -ENOENT;
	if (runs_ending)
		return -ESHUTDOWN;
	runs[id].restarts = 0;
	start_with_needs(id);
	return 0;
}

/* It is up or down: start it again if it was stopped for that, and look at those that wait for it. */
static void on_settled(unit_id id)
{
	if (runs[id].state != STATE_UP && runs[id].start_wanted && !runs_ending)
		start_with_needs(id);
	consider_dependents(id);
}

static bool is_active(unit_id id)
{
	enum state state = runs[id].state;

	return state == STATE_STARTING || state == STATE_UP;
}

/* Stop `id` and all that cannot be without it; `again`: and start those that run, or are on the way to it. */
static void want_stop(unit_id id, bool again)
{
	struct run *run = &runs[id];
	bool stops = run->stop_wanted;

	/* Of a stop after a restart the stop is what counts. */
	if (run->state == STATE_OFF || (stops && (again || !run->start_wanted)))
		return;
	run->stop_wanted = true;
	run->start_wanted = again && run->state != STATE_FAILED && run->state != STATE_BLOCKED;
	for (uint16_t e = units->unit[id].edges_in; e != NO_EDGE; e = units->edges[e].next_of_to)
		if (units->edges[e].relation == RELATION_NEEDS)
			want_stop(units->edges[e].from, again);
	if (!stops && !is_active(id) && run->state != STATE_STOPPING)
		lifecycle_stop(id, STATE_OFF);
}

int supervise_stop(struct slice name)
{
	unit_id id = units_find(units, name);

	if (id == NO_UNIT)
		return -ENOENT;
	want_stop(id, false);
	return 0;
}

int supervise_restart(struct slice name)
{
	unit_id id = units_find(units, name);

	if (id == NO_UNIT)
		return -ENOENT;
	if (!is_active(id))
		return supervise_start(name);
	want_stop(id, true);
	return 0;
}

void supervise_stop_all(void)
{
	runs_ending = true;
	for (size_t i = 0; i < units->n_units; i++) {
		runs[i].start_wanted = false;
		if (runs[i].state == STATE_OFF || runs[i].stop_wanted)
			continue;
		runs[i].stop_wanted = true;
		if (!is_active((unit_id)i) && runs[i].state != STATE_STOPPING)
			lifecycle_stop((unit_id)i, STATE_OFF);
	}
}

bool supervise_all_down(void)
{
	for (size_t i = 0; i < units->n_units; i++)
		if (is_active((unit_id)i) || runs[i].state == STATE_STOPPING)
			return false;
	return true;
}

/* ---- Time, and turns --------------------------------------------------------------------------------------------------- */

static void is_due(unit_id id)
{
	struct run *run = &runs[id];
	int64_t timeout_ns = units->unit[id].start_timeout_ns;

	switch (run->state) {
	case STATE_STARTING:
		lifecycle_fail(id, "not ready after %lld.%03lld s%s", (long long)(timeout_ns / NS_PER_S),
			       (long long)(timeout_ns % NS_PER_S / NS_PER_MS),
			       run->spawn_again ? ", for want of a process or a descriptor" : "");
		break;
	case STATE_STOPPING:
		lifecycle_kill(id);
		break;
	case STATE_BACKOFF:
		wait_for_start(id);
		consider(id);
		break;
	default:
		run->deadline_ns = 0;
	}
}

int64_t supervise_timers(int64_t now_ns)
{
	int64_t next_ns = INT64_MAX;
	bool acted = false;

	for (size_t i = 0; i < units->n_units; i++) {
		struct run *run = &runs[i];
		enum state before = run->state;

		if (run->deadline_ns > 0 && run->deadline_ns <= now_ns)
			is_due((unit_id)i);
		if (run->spawn_again || run->poll_pidfile)
			lifecycle_poll((unit_id)i);
		acted |= run->state != before;
		if ((run->spawn_again || run->poll_pidfile) && now_ns + LIFECYCLE_RETRY_MS * NS_PER_MS < next_ns)
			next_ns = now_ns + LIFECYCLE_RETRY_MS * NS_PER_MS;
		if (run->deadline_ns > 0 && run->deadline_ns < next_ns)
			next_ns = run->deadline_ns;
		if (run->state == STATE_ELIGIBLE && now_ns + PRESSURE_SAMPLE_MS * NS_PER_MS < next_ns &&
		    schedule_looks_again(&units->unit[i], goal_pending()))
			next_ns = now_ns + PRESSURE_SAMPLE_MS * NS_PER_MS;
	}
	/* Others may have their turn by that. */
	return acted ? now_ns : next_ns;
}

void supervise_schedule(int64_t now_ns)
{
	unit_id id;

	for (size_t i = 0; i < units->n_units; i++)
		if (runs[i].stop_wanted && is_active((unit_id)i) && schedule_can_stop(units, (unit_id)i)) {
			lifecycle_stop((unit_id)i, STATE_OFF);
			i = (size_t)-1; /* what it waited for may be free now */
		}
	if (runs_ending)
		return;
	while ((id = schedule_pick(units, runs_starting(), goal_pending(), now_ns)) != NO_UNIT)
		lifecycle_begin(id);
	goal_look();
}
