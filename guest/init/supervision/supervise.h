/* SPDX-License-Identifier: MIT */
/* All units together: which are wanted, what each waits for, whose turn and whose time it is. lifecycle.h has the single one. */
#ifndef BOOTLAB_INIT_SUPERVISE_H
#define BOOTLAB_INIT_SUPERVISE_H

#include <stdbool.h>
#include <stdint.h>

#include "units/config.h"
#include "units/units.h"

/* Everything below works on these units, for good. */
void supervise_init(struct units *units, const struct config *config);

/* All files have been read anew: on these from now on. A unit has the number that it had; what is new is not started by that. */
void supervise_succeed(struct units *units);

/* Start all that is wanted. */
void supervise_boot(void);

/*
 * Start built-in units alone (`first_only`: nothing but `basics`), so that somebody can look after the machine; all the rest by
 * supervise_boot() later. And whether they have come up, or will not.
 */
void supervise_rescue(bool first_only);
bool supervise_rescue_is_there(void);

/* What the user asks for; a name that does not exist is -ENOENT. Stopping stops what needs it first. */
int supervise_start(struct slice name);
int supervise_stop(struct slice name);
int supervise_restart(struct slice name);

/* Have it read its configuration anew; errors as lifecycle_reload's. */
int supervise_reload(struct slice name);

/* Begin to stop everything, whatever it is doing; nothing is started any more. */
void supervise_stop_all(void);
bool supervise_all_down(void);

/* Do what is due by now; when to look again: `now_ns` itself when something has changed by it. */
int64_t supervise_timers(int64_t now_ns);

/* Start and stop what can be started and stopped; after every event. */
void supervise_schedule(int64_t now_ns);

#endif
