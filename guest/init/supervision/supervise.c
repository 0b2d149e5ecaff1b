/* SPDX-License-Identifier: MIT */
/* Starts and stops all units in their order, each when what it waits for is up or gone. */
#include "supervise.h"

#include <errno.h>
#include <string.h>

#include "goal.h"
#include "lifecycle.h"
#include "pressure.h"
#include "process/sockets.h"
#include "schedule.h"
#include "shared/clock.h"
#include "shared/own.h"
#include "shared/print.h"
#include "state/account.h"
#include "state/log.h"
#include "state/timers.h"

static const struct units *units;

static void on_settled(unit_id id);

/* What has changed and is to be seen to, and what is to be stopped: each unit once in each, in rings. */
enum ring_kind { CHANGED, STOPPING, RINGS };
static struct {
	size_t first, n;
} rings[RINGS];

/* A place of each ring, and of the units on the way from one to all that goes with it. */
static struct {
	unit_id in_ring[RINGS], found;
} *places;

/* Of each unit: which rings hold it, and in which search it was found last. */
static struct {
	uint32_t found_in;
	bool is_held[RINGS];
} *seen;

/* Of the boot nothing but the built-in units, so far: it has no goal, and is not settled. */
static bool is_rescue;

static void ring_put(enum ring_kind ring, unit_id id)
{
	if (seen[id].is_held[ring])
		return;
	seen[id].is_held[ring] = true;
	places[(rings[ring].first + rings[ring].n++) % MAX_UNITS].in_ring[ring] = id;
}

static bool ring_take(enum ring_kind ring, unit_id *ret)
{
	if (rings[ring].n == 0)
		return false;
	*ret = places[rings[ring].first].in_ring[ring];
	rings[ring].first = (rings[ring].first + 1) % MAX_UNITS;
	rings[ring].n--;
	seen[*ret].is_held[ring] = false;
	return true;
}

void supervise_init(struct units *all, const struct config *config)
{
	unit_id id;

	OWN_TABLE(places, MAX_UNITS);
	OWN_TABLE(seen, MAX_UNITS);
	units = all;
	is_rescue = false;
	while (ring_take(CHANGED, &id) || ring_take(STOPPING, &id))
		;
	runs_init(all);
	sockets_init(all);
	schedule_init(all);
	lifecycle_init(all, on_settled);
	goal_init(all, config);
}

/* It is up, or no longer. What follows for others is done when this one's own affairs are (settle_all). */
static void on_settled(unit_id id)
{
	ring_put(CHANGED, id);
}

static bool is_down(unit_id id)
{
	enum state state = runs[id].state;

	return (1u << STATE_OFF | 1u << STATE_FAILED | 1u << STATE_BLOCKED | 1u << STATE_BACKOFF | 1u << STATE_LEFT_OUT) >> state & 1;
}

static bool is_active(unit_id id)
{
	enum state state = runs[id].state;

	return state == STATE_STARTING || state == STATE_UP;
}

/* ---- Dependencies ---------------------------------------------------------------------------------------------------- */

static void take_verdict(unit_id id, enum verdict verdict, unit_id other)
{
	if (verdict == DEPENDENCIES_THERE) {
		runs_enter(id, STATE_ELIGIBLE);
		schedule_add(id);
		account_add(ACCOUNT_ELIGIBLE, id, 0, units->unit[id].goal, 0);
	} else if (verdict == DEPENDENCIES_FAILED) {
		print(runs[id].why, sizeof runs[id].why, "needs %s, which is %s", units->unit[other].name,
		      runs_state_name(runs[other].state));
		account_add(ACCOUNT_BLOCKED, id, 0, 0, 0);
		runs_enter(id, STATE_BLOCKED);
		sockets_close(units, id);
		ring_put(CHANGED, id);
	}
}

static void consider(unit_id id)
{
	enum verdict verdict;
	unit_id other;

	if (runs[id].state != STATE_WAITING)
		return;
	verdict = schedule_dependencies(id, &other);
	take_verdict(id, verdict, other);
}

void supervise_succeed(struct units *all)
{
	size_t n_before = units->n_units;

	sockets_succeed(units, all);
	runs_succeed(all);
	units = all;
	schedule_init(all);
	lifecycle_init(all, on_settled);
	goal_succeed(all);
	for (size_t i = 0; i < n_before; i++) {
		unit_id id = (unit_id)i;
		bool waits = runs[id].state == STATE_WAITING || runs[id].state == STATE_ELIGIBLE;

		if (all->unit[id].origin == ORIGIN_GONE && (waits || is_down(id))) {
			runs_enter(id, STATE_OFF);
			runs[id].stop_wanted = runs[id].start_wanted = runs[id].wait_wanted = false;
			runs[id].why[0] = '\0';
		} else if (waits && all->unit[id].broken) {
			lifecycle_fail(id, "%s", all->unit[id].why_broken ? all->unit[id].why_broken : "its file is wrong");
		} else if (waits) {
			runs_enter(id, STATE_WAITING);
		} else if (runs[id].stop_wanted && is_active(id)) {
			ring_put(STOPPING, id);
		}
	}
	for (size_t i = 0; i < n_before; i++)
		consider((unit_id)i);
}

/* ---- What the user, or the boot, wants --------------------------------------------------------------------------------- */

static void wait_for_start(unit_id id)
{
	struct run *run = &runs[id];

	if (!is_down(id))
		return;
	run->stop_wanted = run->start_wanted = run->wait_wanted = false;
	runs_enter(id, STATE_WAITING);
	account_add(ACCOUNT_WAITING, id, 0, 0, 0);
	if (units->unit[id].broken)
		lifecycle_fail(id, "%s", units->unit[id].why_broken ? units->unit[id].why_broken : "its file is wrong");
}

void supervise_rescue(bool first_only)
{
	is_rescue = true;
	for (size_t i = 0; i < units->n_units; i++)
		if (units->unit[i].origin == ORIGIN_BUILTIN && (!first_only || !strcmp(units->unit[i].name, "basics")))
			wait_for_start((unit_id)i);
	for (size_t i = 0; i < units->n_units; i++)
		consider((unit_id)i);
}

bool supervise_rescue_is_there(void)
{
	return runs_count(STATE_WAITING) + runs_count(STATE_ELIGIBLE) + runs_count(STATE_STARTING) == 0;
}

void supervise_boot(void)
{
	is_rescue = false;
	for (size_t i = 0; i < units->n_units; i++)
		if (units->unit[i].wanted)
			wait_for_start((unit_id)i);
	for (size_t i = 0; i < units->n_units; i++)
		consider((unit_id)i);
}

/* With all that it needs or wants, near and far, each of them once. */
static void start_with_needs(unit_id first)
{
	static uint32_t turn;
	size_t n = 0;

	turn++;
	places[n++].found = first;
	seen[first].found_in = turn;
	for (size_t i = 0; i < n; i++) {
		unit_id id = places[i].found;
		enum state state = runs[id].state;

		if (state == STATE_STOPPING)
			runs[id].start_wanted = true;
		if (!is_down(id))
			continue;
		wait_for_start(id);
		for (edge_id e = units->unit[id].edges_out; e != NO_EDGE; e = units->edges[e].next_of_from) {
			const struct edge *edge = &units->edges[e];

			if (edge->relation > RELATION_WANTS || !(edge->when & AT_START) || seen[edge->to].found_in == turn)
				continue;
			seen[edge->to].found_in = turn;
			places[n++].found = edge->to;
		}
	}
	while (n > 0)
		consider(places[--n].found);
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

/* What becomes of a unit once it is down. */
enum then { THEN_REST, THEN_START, THEN_WAIT };

/* False when it is to be stopped already: of a stop after a restart the stop is what counts. Only what runs is let wait. */
static bool mark_stop(unit_id id, enum then then)
{
	struct run *run = &runs[id];
	bool was_up_for_more = run->start_wanted || run->wait_wanted;

	if (run->state == STATE_OFF || (then == THEN_WAIT && !is_active(id)) ||
	    (run->stop_wanted && (then != THEN_REST || !was_up_for_more)))
		return false;
	run->stop_wanted = true;
	run->start_wanted = then == THEN_START && run->state != STATE_FAILED && run->state != STATE_BLOCKED;
	run->wait_wanted = then == THEN_WAIT;
	return true;
}

/* Stop `first` and all that cannot be without it, those first. */
static void want_stop(unit_id first, enum then then)
{
	size_t n = 0;

	if (!mark_stop(first, then))
		return;
	places[n++].found = first;
	for (size_t i = 0; i < n; i++)
		for (edge_id e = units->unit[places[i].found].edges_in; e != NO_EDGE; e = units->edges[e].next_of_to)
			if (units->edges[e].relation == RELATION_NEEDS && mark_stop(units->edges[e].from, then))
				places[n++].found = units->edges[e].from;
	while (n-- > 0) {
		if (is_active(places[n].found))
			ring_put(STOPPING, places[n].found);
		else if (runs[places[n].found].state != STATE_STOPPING)
			lifecycle_stop(places[n].found, STATE_OFF);
	}
}

int supervise_stop(struct slice name)
{
	unit_id id = units_find(units, name);

	if (id == NO_UNIT)
		return -ENOENT;
	want_stop(id, THEN_REST);
	return 0;
}

int supervise_restart(struct slice name)
{
	unit_id id = units_find(units, name);

	if (id == NO_UNIT)
		return -ENOENT;
	if (!is_active(id))
		return supervise_start(name);
	want_stop(id, THEN_START);
	return 0;
}

int supervise_reload(struct slice name)
{
	unit_id id = units_find(units, name);

	return id == NO_UNIT ? -ENOENT : lifecycle_reload(id);
}

void supervise_stop_all(void)
{
	runs_ending = true;
	for (size_t i = 0; i < units->n_units; i++) {
		runs[i].start_wanted = runs[i].wait_wanted = false;
		if (runs[i].state == STATE_OFF)
			continue;
		runs[i].stop_wanted = true;
		if (is_active((unit_id)i))
			ring_put(STOPPING, (unit_id)i);
		else if (runs[i].state != STATE_STOPPING)
			lifecycle_stop((unit_id)i, STATE_OFF);
	}
}

bool supervise_all_down(void)
{
	return runs_count(STATE_STARTING) + runs_count(STATE_UP) + runs_count(STATE_STOPPING) == 0;
}

/* ---- What has changed ---------------------------------------------------------------------------------------------------- */

/* `edge` leads to a unit that is up, or no longer. */
static void see_to_dependent(const struct edge *edge, edge_id e)
{
	unit_id id = edge->from, other = edge->to;

	if (runs[id].state == STATE_WAITING) {
		enum verdict verdict = schedule_dependency_changed(id, e, &other);

		take_verdict(id, verdict, other);
		return;
	}
	if (edge->relation != RELATION_NEEDS || !(edge->when & AT_START) || runs[other].state == STATE_UP)
		return;
	if (runs[id].state == STATE_ELIGIBLE) {
		runs_enter(id, STATE_WAITING);
		consider(id);
	} else if (edge->binds && is_active(id) && !runs[id].stop_wanted) {
		log_say(LOG_NOTE, "%s is stopped: it needs %s, which is %s", units->unit[id].name, units->unit[other].name,
			runs_state_name(runs[other].state));
		/* systemd's BindsTo= does not bring it back. */
		want_stop(id, units->unit[id].origin == ORIGIN_SYSTEMD ? THEN_REST : THEN_WAIT);
	}
}

static void see_to(unit_id id)
{
	/* Started again, if it was stopped for that. */
	if (is_down(id) && !runs_ending && runs[id].start_wanted) {
		start_with_needs(id);
	} else if (is_down(id) && !runs_ending && runs[id].wait_wanted) {
		wait_for_start(id);
		consider(id);
	}
	for (edge_id e = units->unit[id].edges_in; e != NO_EDGE; e = units->edges[e].next_of_to)
		see_to_dependent(&units->edges[e], e);
	if (is_active(id) || runs[id].state == STATE_STOPPING)
		return;
	for (edge_id e = units->unit[id].edges_out; e != NO_EDGE; e = units->edges[e].next_of_from)
		if (schedule_stop_awaits(units->edges[e].to, e))
			ring_put(STOPPING, units->edges[e].to);
}

static void settle_all(void)
{
	unit_id id;

	for (;;)
		if (ring_take(CHANGED, &id))
			see_to(id);
		else if (!ring_take(STOPPING, &id))
			return;
		else if (runs[id].stop_wanted && is_active(id) && schedule_can_stop(id))
			lifecycle_stop(id, STATE_OFF);
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
	case STATE_UP:
		lifecycle_reload_late(id);
		break;
	default:
		run->deadline_ns = 0;
	}
}

int64_t supervise_timers(int64_t now_ns)
{
	int64_t next_ns;
	bool acted = false;
	enum timer timer;
	unit_id id;

	while (timers_take(now_ns, &id, &timer)) {
		enum state before = runs[id].state;

		if (timer == TIMER_DEADLINE)
			is_due(id);
		else if (timer == TIMER_POLL)
			lifecycle_poll(id);
		else if (timer == TIMER_WATCHDOG)
			lifecycle_starved(id);
		else
			lifecycle_window_over(id);
		acted |= runs[id].state != before;
	}
	/* Others may have their turn by that. */
	if (acted || rings[CHANGED].n > 0)
		return now_ns;
	next_ns = timers_next_ns();
	if (schedule_looks_again(goal_pending()) && now_ns + PRESSURE_SAMPLE_MS * NS_PER_MS < next_ns)
		next_ns = now_ns + PRESSURE_SAMPLE_MS * NS_PER_MS;
	return next_ns;
}

void supervise_schedule(int64_t now_ns)
{
	unit_id id;

	settle_all();
	while (!runs_ending && (id = schedule_pick(goal_pending() && !is_rescue, now_ns)) != NO_UNIT) {
		lifecycle_begin(id);
		settle_all();
	}
	if (!runs_ending && !is_rescue)
		goal_look();
}
