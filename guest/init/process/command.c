/* SPDX-License-Identifier: MIT */
/* Runs the command that a unit is at, and signals the processes that came of it. */
#include "command.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cgroups.h"
#include "sockets.h"
#include "state/log.h"
#include "state/pids.h"

bool command_is_daemon(const struct unit *unit)
{
	return unit->readiness != READY_EXIT && unit->readiness != READY_FORK;
}

const struct command *command_current(const struct units *units, unit_id id)
{
	return &units->commands[units->unit[id].first_command + runs[id].command];
}

bool command_find(const struct units *units, unit_id id, uint16_t from)
{
	const struct unit *unit = &units->unit[id];

	for (uint16_t i = from; i < unit->n_commands; i++)
		if (units->commands[unit->first_command + i].phase == runs[id].phase) {
			runs[id].command = i;
			return true;
		}
	return false;
}

static bool is_for_want(int r)
{
	return r == -EMFILE || r == -ENFILE || r == -ENOMEM || r == -ENOBUFS;
}

int command_run(const struct units *units, unit_id id, const struct spawn_watchers *watchers, const char **ret_address)
{
	const struct unit *unit = &units->unit[id];
	struct run *run = &runs[id];
	bool tried = run->spawn_again, sockets_there;
	int r = run->phase == PHASE_START ? sockets_open(units, id, ret_address) : 0;

	if (r < 0 && !is_for_want(r)) {
		runs_set_spawn_again(id, false);
		return r;
	}
	sockets_there = r == 0;
	if (sockets_there)
		r = unit->origin == ORIGIN_BUILTIN ?
			    spawn_builtin(units, id, watchers) :
			    spawn_command(units, id, command_current(units, id), run->phase == PHASE_START && command_is_daemon(unit),
					  watchers);
	runs_set_spawn_again(id, r < 0);
	if (r < 0 && !tried)
		log_say(LOG_FAILURE, "%s: no %s for it (%s): trying again", unit->name, sockets_there ? "process" : "socket",
			strerror(-r));
	return 0;
}

static bool takes_all(const struct unit *unit)
{
	return unit->kill_mode != KILL_MAIN && unit->origin != ORIGIN_LSB && unit->origin != ORIGIN_BUILTIN;
}

/*
 * Without a cgroup: what a start command has left in its own process group, whose number is nobody else's as long as it is there. A
 * process of that number is somebody else's: the start command's own is reaped.
 */
static pid_t left_group(const struct unit *unit, unit_id id)
{
	pid_t group = runs[id].session;

	if (unit->readiness != READY_FORK || unit->pidfile || group <= 0 || pids_owner(group) != NO_UNIT || kill(group, 0) == 0 ||
	    kill(-group, 0))
		return 0;
	return group;
}

bool command_has_process(const struct run *run)
{
	return run->pid > 0 || run->main > 0 || run->connections > 0;
}

bool command_is_alive(const struct units *units, unit_id id)
{
	const struct unit *unit = &units->unit[id];

	if (command_has_process(&runs[id]))
		return true;
	if (!takes_all(unit))
		return false;
	return cgroups_is_there(id) ? cgroups_is_populated(id) : left_group(unit, id) > 0;
}

static void signal_process(pid_t pid, int number)
{
	if (pid <= 0)
		return;
	/* Most lead their own group; a daemon that was adopted by its pid file may not. */
	kill(getpgid(pid) == pid ? -pid : pid, number);
	if (number != SIGKILL)
		kill(pid, SIGCONT);
}

void command_signal_helper(const struct run *run, int number)
{
	signal_process(run->pid, number);
}

void command_signal(const struct units *units, unit_id id, int number)
{
	const struct unit *unit = &units->unit[id];
	bool all = takes_all(unit) && (number == SIGKILL || unit->kill_mode == KILL_ALL);
	pid_t group = all ? left_group(unit, id) : 0, pid;

	/* A kernel without memory does not say who is in it: then who is known of has to do. */
	if (all && cgroups_signal(id, number)) {
		/* One that has moved to another place is still the unit's. */
		if (runs[id].main > 0 && !cgroups_has(id, runs[id].main))
			signal_process(runs[id].main, number);
		return;
	}
	command_signal_helper(&runs[id], number);
	signal_process(runs[id].main, number);
	for (uint32_t at = 0; runs[id].connections > 0 && (pid = pids_next_connection(id, &at)) > 0;)
		signal_process(pid, number);
	if (group > 0)
		kill(-group, number);
}
