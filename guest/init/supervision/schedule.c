/* SPDX-License-Identifier: MIT */
#include "schedule.h"

#include "pressure.h"
#include "state/runs.h"

enum verdict schedule_dependencies(const struct units *units, unit_id id, unit_id *ret)
{
	enum verdict verdict = DEPENDENCIES_THERE;

	for (uint16_t e = units->unit[id].edges_out; e != NO_EDGE; e = units->edges[e].next_of_from) {
		const struct edge *edge = &units->edges[e];
		enum state state = runs[edge->to].state;

		if (!(edge->when & AT_START))
			continue;
		if (edge->relation == RELATION_NEEDS &&
		    (state == STATE_FAILED || state == STATE_BLOCKED || state == STATE_OFF)) {
			*ret = edge->to;
			return DEPENDENCIES_FAILED;
		}
		if (state == STATE_WAITING || state == STATE_ELIGIBLE || state == STATE_STARTING ||
		    (edge->relation == RELATION_NEEDS && state != STATE_UP)) {
			verdict = DEPENDENCIES_AWAITED;
			*ret = edge->to;
		}
	}
	return verdict;
}

static bool comes_before(const struct unit *unit, const struct unit *other)
{
	if (unit->goal != other->goal)
		return unit->goal;
	if (unit->deferred != other->deferred)
		return other->deferred;
	return unit->height > other->height;
}

unit_id schedule_pick(const struct units *units, unsigned starting, bool goal_pending, int64_t now_ns)
{
	const struct unit *unit;
	unit_id best = NO_UNIT;

	for (size_t i = 0; i < units->n_units; i++) {
		if (runs[i].takes_slot && units->unit[i].serial)
			return NO_UNIT; /* it wants to be alone */
		if (runs[i].state == STATE_ELIGIBLE && (best == NO_UNIT || comes_before(&units->unit[i], &units->unit[best])))
			best = (unit_id)i;
	}
	if (best == NO_UNIT)
		return NO_UNIT;
	unit = &units->unit[best];
	/* What takes no process takes no place. */
	if (unit->n_commands == 0 && !unit->builtin_waits && (unit->goal || unit->origin != ORIGIN_BUILTIN || !goal_pending))
		return best;
	if (unit->serial && starting > 0)
		return NO_UNIT;
	if (goal_pending && !unit->goal && (unit->deferred || pressure_now(now_ns) != PRESSURE_NONE))
		return NO_UNIT;
	return starting < places_now(starting, now_ns) ? best : NO_UNIT;
}

bool schedule_looks_again(const struct unit *unit, bool goal_pending)
{
	return goal_pending && !unit->goal ? !unit->deferred : places_move();
}

bool schedule_can_stop(const struct units *units, unit_id id)
{
	for (uint16_t e = units->unit[id].edges_in; e != NO_EDGE; e = units->edges[e].next_of_to) {
		const struct edge *edge = &units->edges[e];
		const struct run *run = &runs[edge->from];

		if (!(edge->when & AT_STOP) || !run->stop_wanted)
			continue;
		if (run->state == STATE_STARTING || run->state == STATE_UP || run->state == STATE_STOPPING)
			return false;
	}
	return true;
}
