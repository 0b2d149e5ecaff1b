/* SPDX-License-Identifier: MIT */
/* Sees when all that the goal needs is up, or can no longer be, and announces it. */
#include "goal.h"

#include <string.h>

#include "mark.h"
#include "shared/clock.h"
#include "shared/print.h"
#include "state/account.h"
#include "state/log.h"
#include "state/runs.h"

static const struct units *units;
static unit_id goals[MAX_GOALS];
static size_t n_goals;
static bool reached, failed, failure_taken, settled;
static unit_id first_failed = NO_UNIT;
static char first_why[160];

void goal_init(const struct units *all, const struct config *config)
{
	units = all;
	n_goals = 0;
	reached = failed = failure_taken = settled = false;
	first_failed = NO_UNIT;
	for (size_t i = 0; i < config->n_goals; i++) {
		unit_id id = units_find(all, slice_of(config->goals[i]));

		if (id == NO_UNIT)
			failed = true;
		else
			goals[n_goals++] = id;
	}
}

void goal_succeed(const struct units *all)
{
	units = all;
}

bool goal_pending(void)
{
	return n_goals > 0 && !reached && !failed;
}

void goal_unit_up(unit_id id)
{
	const char *mark = units->unit[id].mark;
	bool all = n_goals > 0;

	if (mark && strlen(mark) <= MARK_NAME_MAX) {
		mark_announce(mark, (long)strlen(mark));
		log_say(LOG_PLAIN, "bootlab: mark %s", mark);
	}
	if (units->unit[id].n_commands > 0)
		log_say(LOG_NOTE, "%s is up", units->unit[id].name);
	for (size_t i = 0; i < n_goals; i++)
		all &= runs[goals[i]].state == STATE_UP;
	if (all && !reached && !failed) {
		reached = true;
		account_add(ACCOUNT_GOAL, id, 0, 0, 0);
		log_say(LOG_NOTE, "the goal is reached");
	}
}

void goal_unit_failed(unit_id id)
{
	if (first_failed != NO_UNIT)
		return;
	first_failed = id;
	print(first_why, sizeof first_why, "%s", runs[id].why);
}

static void look_at_goals(void)
{
	for (size_t i = 0; i < n_goals && !failed; i++) {
		enum state state = runs[goals[i]].state;

		if (state != STATE_FAILED && state != STATE_BLOCKED && state != STATE_LEFT_OUT)
			continue;
		failed = true;
		log_say(LOG_FAILURE, "the goal cannot be reached: %s is %s: %s", units->unit[goals[i]].name, runs_state_name(state),
			runs[goals[i]].why);
	}
}

static void say_settled(void)
{
	size_t count[STATES] = { 0 };

	if (runs_count(STATE_WAITING) > 0 || runs_count(STATE_ELIGIBLE) > 0 || runs_count(STATE_STARTING) > 0)
		return;
	for (size_t i = 0; i < units->n_units; i++)
		if (units->unit[i].origin != ORIGIN_FACILITY && units->unit[i].origin != ORIGIN_BUILTIN)
			count[runs[i].state]++;
	settled = true;
	if (n_goals == 0)
		account_add(ACCOUNT_GOAL, NO_UNIT, 0, 0, 0);
	log_say(LOG_NOTE, "%zu units are up, %zu failed, %zu could not be started", count[STATE_UP],
		count[STATE_FAILED] + count[STATE_BACKOFF], count[STATE_BLOCKED]);
	if (count[STATE_LEFT_OUT] > 0)
		log_say(LOG_NOTE, "%zu are left out by their conditions", count[STATE_LEFT_OUT]);
	/* Last, so that nothing scrolls it away. */
	if (first_failed != NO_UNIT)
		log_say(LOG_FAILURE, "the first that failed: %s: %s", units->unit[first_failed].name, first_why);
}

void goal_look(void)
{
	if (goal_pending())
		look_at_goals();
	if (!settled)
		say_settled();
}

bool goal_take_failure(void)
{
	bool answer = failed && !failure_taken;

	failure_taken |= answer;
	return answer;
}
