/* SPDX-License-Identifier: MIT */
#include "command.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "sockets.h"
#include "state/log.h"

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
		run->spawn_again = false;
		return r;
	}
	sockets_there = r == 0;
	if (sockets_there)
		r = unit->origin == ORIGIN_BUILTIN ?
			    spawn_builtin(units, id, watchers) :
			    spawn_command(units, id, command_current(units, id), run->phase == PHASE_START && command_is_daemon(unit),
					  watchers);
	run->spawn_again = r < 0;
	if (r < 0 && !tried)
		log_say(LOG_FAILURE, "%s: no %s for it (%s): trying again", unit->name, sockets_there ? "process" : "socket",
			strerror(-r));
	return 0;
}

bool command_is_alive(const struct run *run)
{
	return run->pid > 0 || run->main > 0;
}

static void signal_process(pid_t pid, int number)
{
	if (pid <= 0)
		return;
	/* Most lead their own group; a daemon that was adopted by its pid file may not. */
	if (getpgid(pid) == pid)
		kill(-pid, number);
	kill(pid, number);
	if (number == SIGTERM)
		kill(pid, SIGCONT);
}

void command_signal(const struct run *run, int number)
{
	signal_process(run->pid, number);
	signal_process(run->main, number);
}
