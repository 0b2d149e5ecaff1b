/* SPDX-License-Identifier: MIT */
/*
 * Decides which unit starts next, and whether now: what the goal needs first, then the longest way to the end; no more
 * of them starting at once than there are places, and what is not for the goal only when the machine has nothing else to
 * do. And what a unit has to wait for before it starts or stops.
 */
#ifndef BOOTLAB_INIT_SCHEDULE_H
#define BOOTLAB_INIT_SCHEDULE_H

#include <stdbool.h>

#include "units/units.h"

/* All is about these units from now on, and none waits for its turn. */
void schedule_init(const struct units *units);

enum verdict { DEPENDENCIES_THERE, DEPENDENCIES_AWAITED, DEPENDENCIES_FAILED };

/*
 * Whether all that `id` waits for is there; else `*ret` is the first that has failed, or the first that is awaited. That one is
 * remembered: until it has changed, only what has failed needs to be looked at.
 */
enum verdict schedule_dependencies(unit_id id, unit_id *ret);

/* The same, when the other end of `edge`, one of its own, has changed. */
enum verdict schedule_dependency_changed(unit_id id, edge_id edge, unit_id *ret);

/* Whether `id`, which is to be stopped, can be now: nothing that depends on it still runs. What does is remembered, too. */
bool schedule_can_stop(unit_id id);

/* Whether it was remembered that `id` cannot stop because of the unit that waits for it by `edge`. */
bool schedule_stop_awaits(unit_id id, edge_id edge);

/* It is eligible from now on. */
void schedule_add(unit_id id);

/* The eligible unit to start now, or NO_UNIT; it is taken out. */
unit_id schedule_pick(bool goal_pending, int64_t now_ns);

/* While units wait for their turn: whether it may come without an event, by another look at the machine. */
bool schedule_looks_again(bool goal_pending);

#endif
