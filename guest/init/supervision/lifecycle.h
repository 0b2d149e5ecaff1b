/* SPDX-License-Identifier: MIT */
/*
 * One unit from its first command to its last: it begins, is up, fails, is stopped, and is down. It knows of no other unit;
 * supervise.c decides when it begins and ends, exits.c says what the end of one of its processes means.
 */
#ifndef BOOTLAB_INIT_LIFECYCLE_H
#define BOOTLAB_INIT_LIFECYCLE_H

#include "state/runs.h"
#include "units/units.h"

/* Called when a unit is up, or no longer, or down: others may have waited for that. */
typedef void lifecycle_settled_fn(unit_id id);

void lifecycle_init(const struct units *units, lifecycle_settled_fn *settled);

void lifecycle_begin(unit_id id);

/* End it, whatever it is doing; it will be in state `after`. */
void lifecycle_stop(unit_id id, enum state after);

/* Its time for stopping is over. */
void lifecycle_kill(unit_id id);

/* It has failed, and is stopped; unless it is on the way out already. Started again if its file says so. */
__attribute__((format(printf, 2, 3)))
void lifecycle_fail(unit_id id, const char *format, ...);

/*
 * Have a unit that is up read its configuration anew. 0, also when there is no process to be had for it yet; -EOPNOTSUPP when its file
 * does not say how, -ENOTCONN when it is not up, -EALREADY when it is at it.
 */
int lifecycle_reload(unit_id id);

/* Its reload command has ended: well if `how` is NULL. Or its time for that is over. */
void lifecycle_reloaded(unit_id id, const char *how);
void lifecycle_reload_late(unit_id id);

/* What no event tells: try again where there was no process to be had, look for a pid file. Every RUNS_POLL_MS. */
void lifecycle_poll(unit_id id);

/* A window of the unit is over: what it writes is read on. */
void lifecycle_window_over(unit_id id);

/* It has not said in time that it is well. */
void lifecycle_starved(unit_id id);

/* Take the readiness messages that wait. */
void lifecycle_notified(unit_id id);

/*
 * One of its processes has ended: take what it has said before. 0, or -errno if its program could not be executed, and at
 * which step.
 */
int lifecycle_hear(unit_id id, const char **ret_step);

/* What that end comes to: the command behind this one; up; the daemon is gone of itself; nothing, unless it was the last one. */
void lifecycle_next(unit_id id);
void lifecycle_up(unit_id id);
void lifecycle_ended(unit_id id, bool failed, const char *how);
void lifecycle_gone(unit_id id);

#endif
