/* SPDX-License-Identifier: MIT */
/*
 * Units that have a process for each who connects (each-connection, Accept=yes): they are up by their sockets, and never have
 * more processes at once than their file says. Who comes then waits in the kernel's queue.
 */
#ifndef BOOTLAB_INIT_CONNECTIONS_H
#define BOOTLAB_INIT_CONNECTIONS_H

#include "state/runs.h"
#include "units/units.h"

/* Answer who connects to the unit's sockets, which are open. 0 or -errno. */
int connections_listen(const struct units *units, unit_id id);

/* The process of one has ended, with this status. */
void connections_ended(const struct units *units, unit_id id, int status);

/* Try again where nothing could be had for one more. */
void connections_try_again(const struct units *units, unit_id id);

/* The unit is down, or those that are left cannot be killed: they are not its any more. */
void connections_forget(unit_id id);

#endif
