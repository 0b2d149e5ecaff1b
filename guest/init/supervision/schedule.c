/* SPDX-License-Identifier: MIT */
/* Picks the unit that starts next out of those that wait for nothing any more, and sees what the others wait for. */
#include "schedule.h"

#include "pressure.h"
#include "shared/own.h"
#include "state/runs.h"

static const struct units *units;
/*
 * Eligible units, the next one first: a binary heap from place 1 on. Who is no longer eligible is left out when his turn comes. The
 * smaller key comes first; its last 16 bits are the unit.
 */
static uint64_t *heap;
static uint32_t n_eligible;
/* Of each unit: by which edge it waits, to start or to stop. One table for all that is asked together: each touches a page. */
static struct {
	edge_id start, stop;
	bool in_heap;
} *turns;

void schedule_init(const struct units *all)
{
	OWN_TABLE(heap, MAX_UNITS + 1);
	OWN_TABLE(turns, MAX_UNITS);
	units = all;
	n_eligible = 0;
	for (size_t i = 0; i < all->n_units; i++) {
		turns[i].in_heap = false;
		turns[i].start = turns[i].stop = NO_EDGE;
	}
}

/* ---- What a unit waits for ----------------------------------------------------------------------------------------------- */

/* Asked of every dependency, again and again: one look for several states. */
static bool is_one_of(enum state state, unsigned states)
{
	return states >> state & 1;
}

static bool has_failed(const struct edge *edge)
{
	enum state state = runs[edge->to].state;

	return (edge->when & AT_START) && edge->relation == RELATION_NEEDS &&
	       is_one_of(state, 1u << STATE_FAILED | 1u << STATE_BLOCKED | 1u << STATE_OFF | 1u << STATE_LEFT_OUT) &&
	       (state != STATE_LEFT_OUT || edge->binds);
}

static bool is_awaited(const struct edge *edge)
{
	enum state state = runs[edge->to].state;

	return (edge->when & AT_START) &&
	       (is_one_of(state, 1u << STATE_WAITING | 1u << STATE_ELIGIBLE | 1u << STATE_STARTING) ||
		(edge->relation == RELATION_NEEDS && !is_one_of(state, 1u << STATE_UP | 1u << STATE_LEFT_OUT)));
}

/* On from where it stood, and round: what is passed once need not be looked at again until the round is whole. */
static enum verdict find_awaited(unit_id id, unit_id *ret)
{
	edge_id begin = turns[id].start == NO_EDGE ? units->unit[id].edges_out : turns[id].start, e = begin;

	while (e != NO_EDGE) {
		if (is_awaited(&units->edges[e])) {
			turns[id].start = e;
			*ret = units->edges[e].to;
			return DEPENDENCIES_AWAITED;
		}
		e = units->edges[e].next_of_from;
		if (e == NO_EDGE && begin != units->unit[id].edges_out)
			e = units->unit[id].edges_out;
		if (e == begin)
			break;
	}
	turns[id].start = NO_EDGE;
	return DEPENDENCIES_THERE;
}

enum verdict schedule_dependencies(unit_id id, unit_id *ret)
{
	for (edge_id e = units->unit[id].edges_out; e != NO_EDGE; e = units->edges[e].next_of_from)
		if (has_failed(&units->edges[e])) {
			*ret = units->edges[e].to;
			return DEPENDENCIES_FAILED;
		}
	turns[id].start = NO_EDGE;
	return find_awaited(id, ret);
}

enum verdict schedule_dependency_changed(unit_id id, edge_id edge, unit_id *ret)
{
	*ret = units->edges[edge].to;
	if (has_failed(&units->edges[edge]))
		return DEPENDENCIES_FAILED;
	return turns[id].start == edge || turns[id].start == NO_EDGE ? find_awaited(id, ret) : DEPENDENCIES_AWAITED;
}

static bool keeps_from_stopping(const struct edge *edge)
{
	const struct run *run = &runs[edge->from];

	return (edge->when & AT_STOP) && run->stop_wanted &&
	       (run->state == STATE_STARTING || run->state == STATE_UP || run->state == STATE_STOPPING);
}

bool schedule_can_stop(unit_id id)
{
	edge_id begin = turns[id].stop == NO_EDGE ? units->unit[id].edges_in : turns[id].stop, e = begin;

	while (e != NO_EDGE) {
		if (keeps_from_stopping(&units->edges[e])) {
			turns[id].stop = e;
			return false;
		}
		e = units->edges[e].next_of_to;
		if (e == NO_EDGE && begin != units->unit[id].edges_in)
			e = units->unit[id].edges_in;
		if (e == begin)
			break;
	}
	turns[id].stop = NO_EDGE;
	return true;
}

bool schedule_stop_awaits(unit_id id, edge_id edge)
{
	return turns[id].stop == edge;
}

/* ---- Whose turn it is ---------------------------------------------------------------------------------------------------- */

static uint64_t key_of(unit_id id)
{
	const struct unit *unit = &units->unit[id];

	return (uint64_t)!unit->goal << 33 | (uint64_t)unit->deferred << 32 | (uint64_t)(UINT16_MAX - unit->height) << 16 | id;
}

static unit_id unit_of(uint64_t key)
{
	return (unit_id)(key & UINT16_MAX);
}

void schedule_add(unit_id id)
{
	uint64_t key = key_of(id);
	uint32_t place;

	if (turns[id].in_heap)
		return;
	turns[id].in_heap = true;
	for (place = ++n_eligible; place > 1 && key < heap[place / 2]; place /= 2)
		heap[place] = heap[place / 2];
	heap[place] = key;
}

static void take_first(void)
{
	uint64_t last = heap[n_eligible];
	uint32_t place = 1, child;

	turns[unit_of(heap[1])].in_heap = false;
	for (n_eligible--; (child = place * 2) <= n_eligible; place = child) {
		if (child < n_eligible && heap[child + 1] < heap[child])
			child++;
		if (heap[child] >= last)
			break;
		heap[place] = heap[child];
	}
	heap[place] = last;
}

static unit_id first(void)
{
	while (n_eligible > 0 && runs[unit_of(heap[1])].state != STATE_ELIGIBLE)
		take_first();
	return n_eligible > 0 ? unit_of(heap[1]) : NO_UNIT;
}

static bool has_its_turn(const struct unit *unit, bool goal_pending, int64_t now_ns)
{
	unsigned starting = runs_count(STATE_STARTING);

	if (runs_serial_starting() > 0)
		return false; /* it wants to be alone */
	/* What takes no process takes no place. */
	if (unit->n_commands == 0 && !unit->builtin_waits && (unit->goal || unit->origin != ORIGIN_BUILTIN || !goal_pending))
		return true;
	if (unit->serial && starting > 0)
		return false;
	if (goal_pending && !unit->goal && (unit->deferred || pressure_now(now_ns) != PRESSURE_NONE))
		return false;
	return starting < places_now(starting, now_ns);
}

unit_id schedule_pick(bool goal_pending, int64_t now_ns)
{
	unit_id id = first();

	if (id == NO_UNIT || !has_its_turn(&units->unit[id], goal_pending, now_ns))
		return NO_UNIT;
	take_first();
	return id;
}

bool schedule_looks_again(bool goal_pending)
{
	unit_id id = first();

	if (id == NO_UNIT)
		return false;
	return goal_pending && !units->unit[id].goal ? !units->unit[id].deferred : places_move();
}
