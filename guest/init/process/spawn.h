/* SPDX-License-Identifier: MIT */
/*
 * One process of a unit. It is forked, not vforked: everything slow or dangerous between fork and exec (terminals, user
 * lookup, a program on a dead network file system) happens in the child, and PID 1 goes on. That its program was executed,
 * or why not, comes back through a pipe that exec closes.
 */
#ifndef BOOTLAB_INIT_SPAWN_H
#define BOOTLAB_INIT_SPAWN_H

#include "loop.h"
#include "units/units.h"

/* Who is told, with the unit's id, that there is something to be read of a process: from exec_fd, ready_fd, notify_fd. */
struct spawn_watchers {
	loop_fn *exec, *ready, *notify;
};

/* Run `command` of the unit; -EAGAIN and the like when there is no process or descriptor to be had. */
int spawn_command(const struct units *units, unit_id id, const struct command *command, bool as_main,
		  const struct spawn_watchers *watchers);

/* Run `command` for one connection, which stays the caller's, too; -EAGAIN and the like. There must be room for it (pids.h). */
int spawn_connection(const struct units *units, unit_id id, const struct command *command, int connection);

/* Do the built-in work of the unit in a process of its own. */
int spawn_builtin(const struct units *units, unit_id id, const struct spawn_watchers *watchers);

/* What the pipe says, which is final once the child has ended: 0 if its program was executed, else -errno, and `*ret_step` says at
 * which step. 1: nothing is known. */
int spawn_result(unit_id id, const char **ret_step);

/* Run `program` on the console, for emergencies. The pid or -errno. */
pid_t spawn_shell(const char *program);

#endif
