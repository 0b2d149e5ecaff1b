/* SPDX-License-Identifier: MIT */
#include "supervise.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "goal.h"
#include "lifecycle.h"
#include "pressure.h"
#include "process/ready.h"
#include "process/sockets.h"
#include "schedule.h"
#include "shared/clock.h"
#include "state/account.h"
#include "state/log.h"

enum { RETRY_MS = 20, MAX_BACKOFF_S = 60, MAX_DOUBLINGS = 12, STEADY_S = 10 };

struct run runs[MAX_UNITS];

static struct units *units;
static unsigned starting;
static bool stopping_all;

const struct units *supervise_units(void)
{
	return units;
}

unsigned supervise_starting(void)
{
	return starting;
}

const char *state_name(enum state state)
{
	static const char *const NAMES[] = { "off",	 "waiting", "eligible", "starting", "up",
					     "stopping", "backoff", "failed",	"blocked" };

	return NAMES[state];
}

void supervise_init(struct units *all, const struct config *config)
{
	units = all;
	/* Those that there are: untouched pages of the tables are never handed out. */
	for (size_t i = 0; i < all->n_units; i++)
		runs[i].exec_fd = runs[i].output_fd = runs[i].helper_fd = runs[i].ready_fd = runs[i].notify_fd = -1;
	sockets_init(all);
	lifecycle_init(all);
	goal_init(all, config);
}

/* ---- Dependencies ---------------------------------------------------------------------------------------------------- */

static void consider(unit_id id)
{
	enum verdict verdict;
	unit_id other;

	if (runs[id].state != STATE_WAITING)
		return;
	verdict = schedule_dependencies(units, id, &other);
	if (verdict == DEPENDENCIES_THERE) {
		supervise_enter(id, STATE_ELIGIBLE);
		account_add(ACCOUNT_ELIGIBLE, id, 0, units->unit[id].goal, 0);
	} else if (verdict == DEPENDENCIES_FAILED) {
		snprintf(runs[id].why, sizeof runs[id].why, "needs %s, which is %s", units->unit[other].name,
			 state_name(runs[other].state));
		account_add(ACCOUNT_BLOCKED, id, 0, 0, 0);
		supervise_enter(id, STATE_BLOCKED);
		sockets_close(units, id);
		supervise_settled(id);
	}
}

void supervise_settled(unit_id id)
{
	for (uint16_t e = units->unit[id].edges_in; e != NO_EDGE; e = units->edges[e].next_of_to)
		consider(units->edges[e].from);
}

void supervise_enter(unit_id id, enum state state)
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

/* ---- What the user, or the boot, wants --------------------------------------------------------------------------------- */

static void wait_for_start(unit_id id)
{
	struct run *run = &runs[id];

	if (run->state != STATE_OFF && run->state != STATE_FAILED && run->state != STATE_BLOCKED &&
	    run->state != STATE_BACKOFF)
		return;
	run->stop_wanted = run->start_wanted = false;
	supervise_enter(id, STATE_WAITING);
	account_add(ACCOUNT_WAITING, id, 0, 0, 0);
	if (units->unit[id].broken)
		supervise_fail(id, "%s", units->unit[id].why_broken ? units->unit[id].why_broken : "its file is wrong");
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
	if (stopping_all)
		return -ESHUTDOWN;
	runs[id].restarts = 0;
	start_with_needs(id);
	return 0;
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
	stopping_all = true;
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

/* ---- Ready, failed, down ------------------------------------------------------------------------------------------------ */

void supervise_up(unit_id id)
{
	struct run *run = &runs[id];

	supervise_enter(id, STATE_UP);
	run->up_ns = run->since_ns;
	account_add(ACCOUNT_READY, id, (uint32_t)(run->main > 0 ? run->main : 0), 0, starting);
	goal_unit_up(id);
	supervise_settled(id);
}

static enum state after_failure(unit_id id)
{
	const struct unit *unit = &units->unit[id];
	struct run *run = &runs[id];

	if (unit->restart == RESTART_NO || stopping_all || run->stop_wanted)
		return STATE_FAILED;
	if (unit->restart_limit > 0 && run->restarts >= unit->restart_limit)
		return STATE_FAILED;
	return STATE_BACKOFF;
}

void supervise_fail(unit_id id, const char *format, ...)
{
	struct run *run = &runs[id];
	va_list arguments;

	if (run->state == STATE_STOPPING || run->state == STATE_FAILED)
		return;
	va_start(arguments, format);
	vsnprintf(run->why, sizeof run->why, format, arguments);
	va_end(arguments);
	log_say(LOG_FAILURE, "%s failed: %s%s%s", units->unit[id].name, run->why, *run->last_line ? "; its last words: " : "",
		run->last_line);
	goal_unit_failed(id);
	account_add(ACCOUNT_FAILED, id, (uint32_t)(run->main > 0 ? run->main : 0), 0, run->restarts);
	lifecycle_stop(id, units->unit[id].broken ? STATE_FAILED : after_failure(id));
}

void supervise_ended(unit_id id, bool failed, const char *how)
{
	struct run *run = &runs[id];

	if (failed) {
		supervise_fail(id, "%s", how);
	} else if (units->unit[id].restart == RESTART_ALWAYS) {
		log_say(LOG_NOTE, "%s ended, and is started again", units->unit[id].name);
		lifecycle_stop(id, after_failure(id));
	} else {
		snprintf(run->why, sizeof run->why, "%s", how);
		lifecycle_stop(id, STATE_OFF);
	}
}

void supervise_down(unit_id id, enum state state)
{
	const struct unit *unit = &units->unit[id];
	struct run *run = &runs[id];
	int64_t now_ns = clock_now_ns();

	/* Somebody wanted it stopped while it was ending of itself. */
	if (run->stop_wanted && state == STATE_BACKOFF)
		state = STATE_OFF;
	account_add(ACCOUNT_DOWN, id, 0, (uint8_t)state, 0);
	/* What has run for a while begins anew with its patience. */
	if (run->up_ns > 0 && now_ns - run->up_ns > STEADY_S * NS_PER_S)
		run->restarts = 0;
	run->up_ns = 0;
	run->stop_wanted = false;
	supervise_enter(id, state);
	if (state != STATE_BACKOFF && !run->start_wanted)
		sockets_close(units, id);
	if (state == STATE_BACKOFF) {
		/* What fails without a process could fail again at once, for ever, and leave no time for anything else. */
		int64_t delay_ns = unit->restart_delay_ns > RETRY_MS * NS_PER_MS ? unit->restart_delay_ns : RETRY_MS * NS_PER_MS;

		for (uint32_t i = 0; i < run->restarts && i < MAX_DOUBLINGS && delay_ns < MAX_BACKOFF_S * NS_PER_S; i++)
			delay_ns *= 2;
		run->restarts++;
		run->deadline_ns = now_ns + (delay_ns < MAX_BACKOFF_S * NS_PER_S ? delay_ns : MAX_BACKOFF_S * NS_PER_S);
	}
	if (run->start_wanted && !stopping_all)
		start_with_needs(id);
	supervise_settled(id);
}

/* ---- Time, and turns --------------------------------------------------------------------------------------------------- */

static void is_due(unit_id id)
{
	struct run *run = &runs[id];
	int64_t timeout_ns = units->unit[id].start_timeout_ns;

	switch (run->state) {
	case STATE_STARTING:
		supervise_fail(id, "not ready after %lld.%03lld s%s", (long long)(timeout_ns / NS_PER_S),
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
		if (run->spawn_again)
			lifecycle_try_again((unit_id)i);
		if (run->poll_pidfile && ready_look_at_pidfile((unit_id)i))
			lifecycle_pidfile_found((unit_id)i);
		acted |= run->state != before;
		if ((run->spawn_again || run->poll_pidfile) && now_ns + RETRY_MS * NS_PER_MS < next_ns)
			next_ns = now_ns + RETRY_MS * NS_PER_MS;
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
	if (stopping_all)
		return;
	while ((id = schedule_pick(units, starting, goal_pending(), now_ns)) != NO_UNIT)
		lifecycle_begin(id);
	goal_look();
}
