/* SPDX-License-Identifier: MIT */
#include "schedule.h"

#include <string.h>

#include "clock.h"
#include "files.h"

/* Of a processor's time, so much unused means that the goal has no use for it. */
enum { IDLE_PERCENT = 50, STAT_BYTES = 512, IDLE_FIELD = 3, IOWAIT_FIELD = 4, FIELDS = 8 };

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

/* Time of all processors since the kernel started, and the part of it that was unused, in clock ticks. */
static bool processor_time(int64_t *total, int64_t *unused)
{
	char text[STAT_BYTES];
	struct slice line, word;
	struct lines lines;
	ssize_t size = file_read("/proc/stat", text, sizeof text);

	if (size <= 0)
		return false;
	lines = lines_of(text, (size_t)size);
	if (!line_next(&lines, &line) || !word_next(&line, &word))
		return false;
	*total = *unused = 0;
	for (int i = 0; i < FIELDS && word_next(&line, &word); i++) {
		int64_t ticks;

		if (parse_number(word, 0, INT64_MAX, &ticks))
			return false;
		*total += ticks;
		if (i == IDLE_FIELD || i == IOWAIT_FIELD)
			*unused += ticks;
	}
	return true;
}

static bool machine_is_idle(int64_t now_ns)
{
	static int64_t sampled_ns, last_total, last_unused;
	static bool idle;
	int64_t total, unused;

	if (now_ns - sampled_ns < IDLE_SAMPLE_MS * NS_PER_MS)
		return idle;
	if (!processor_time(&total, &unused))
		return false;
	/* A clock tick may be longer than a sample: then look again later. */
	if (total > last_total) {
		idle = last_total > 0 && (unused - last_unused) * 100 >= (total - last_total) * IDLE_PERCENT;
		last_total = total;
		last_unused = unused;
		sampled_ns = now_ns;
	}
	return idle;
}

static bool comes_before(const struct unit *unit, const struct unit *other)
{
	if (unit->goal != other->goal)
		return unit->goal;
	if (unit->deferred != other->deferred)
		return other->deferred;
	return unit->height > other->height;
}

unit_id schedule_pick(const struct units *units, unsigned starting, unsigned bound, bool goal_pending, int64_t now_ns)
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
	if (starting >= bound || (unit->serial && starting > 0))
		return NO_UNIT;
	if (goal_pending && !unit->goal && (unit->deferred || !machine_is_idle(now_ns)))
		return NO_UNIT;
	return best;
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
