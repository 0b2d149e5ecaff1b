/* SPDX-License-Identifier: MIT */
/*
 * Decides which unit starts next, and whether now: what the goal needs first, then the longest way to the end; no more
 * of them starting at once than there are places, and what is not for the goal only when the machine has nothing else to
 * do.
 */
#ifndef BOOTLAB_INIT_SCHEDULE_H
#define BOOTLAB_INIT_SCHEDULE_H

#include <stdbool.h>

#include "units/units.h"

enum verdict { DEPENDENCIES_THERE, DEPENDENCIES_AWAITED, DEPENDENCIES_FAILED };

/* Whether all that `id` waits for is there. `*ret` is the first that is awaited or has failed. */
enum verdict schedule_dependencies(const struct units *units, unit_id id, unit_id *ret);

/* The eligible unit to start now, or NO_UNIT. */
unit_id schedule_pick(const struct units *units, unsigned starting, bool goal_pending, int64_t now_ns);

/* Whether `id`, which is to be stopped, can be now: nothing that depends on it still runs. */
bool schedule_can_stop(const struct units *units, unit_id id);

/* While units wait for their turn: whether it may come without an event, by another look at the machine. */
bool schedule_looks_again(const struct unit *unit, bool goal_pending);

#endif
