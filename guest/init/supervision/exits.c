/* SPDX-License-Identifier: MIT */
/* Decides what a process that has ended means for its unit. */
#include "exits.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boot/logins.h"
#include "connections.h"
#include "lifecycle.h"
#include "process/child.h"
#include "process/command.h"
#include "process/loop.h"
#include "process/ready.h"
#include "shared/print.h"
#include "state/account.h"
#include "state/log.h"
#include "state/pids.h"

enum { LSB_NOT_INSTALLED = 5, LSB_NOT_CONFIGURED = 6, HOW_BYTES = 100, TTY_BYTES = 256 };

static const char *how_it_ended(char *how, int status)
{
	if (WIFSIGNALED(status))
		print(how, HOW_BYTES, "killed by signal %d", WTERMSIG(status));
	else
		print(how, HOW_BYTES, "ended with status %d", WEXITSTATUS(status));
	return how;
}

static const char *command_path(const struct unit *unit, const struct command *command)
{
	return command->path ? command->path : unit->path;
}

static void command_ended(unit_id id, int status, int exec_error, const char *step)
{
	const struct units *units = runs_units();
	const struct unit *unit = &units->unit[id];
	const struct command *command = unit->origin == ORIGIN_BUILTIN ? NULL : command_current(units, id);
	struct run *run = &runs[id];
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	char how[HOW_BYTES];

	if (run->state == STATE_STOPPING) {
		if (run->phase == PHASE_STOP)
			lifecycle_next(id);
		else
			lifecycle_gone(id);
		return;
	}
	if (run->state == STATE_UP && run->phase == PHASE_RELOAD) {
		if (exec_error)
			print(how, sizeof how, "could not be executed: %s: %s", step, strerror(-exec_error));
		else
			how_it_ended(how, status);
		lifecycle_reloaded(id, code == 0 || (command->may_fail && !exec_error) ? NULL : how);
		return;
	}
	if (run->state != STATE_STARTING)
		return;
	if (unit->origin == ORIGIN_BUILTIN) {
		if (code == 0)
			lifecycle_up(id);
		else
			lifecycle_fail(id, "%s", code > 0 ? strerror(code) : how_it_ended(how, status));
		return;
	}
	if (exec_error) {
		lifecycle_fail(id, "%s:%u: %s: %s: %s", command_path(unit, command), command->line, command->argv[0], step, strerror(-exec_error));
	} else if (unit->origin == ORIGIN_LSB && (code == LSB_NOT_INSTALLED || code == LSB_NOT_CONFIGURED)) {
		print(run->why, sizeof run->why, "it says that it is not %s",
		      code == LSB_NOT_INSTALLED ? "installed" : "configured");
		lifecycle_next(id);
	} else if (code != 0 && !command->may_fail) {
		lifecycle_fail(id, "%s %s", command->argv[0], how_it_ended(how, status));
	} else {
		lifecycle_next(id);
	}
}

static void main_ended(unit_id id, int status, int exec_error, const char *step)
{
	const struct units *units = runs_units();
	const struct command *command = command_current(units, id);
	struct run *run = &runs[id];
	char how[HOW_BYTES];

	/* It handed over to a process that has become ours by its end. */
	if (run->next_main > 0 && run->state != STATE_STOPPING && ready_adopt_announced(id))
		return;
	how_it_ended(how, status);
	if (units->unit[id].builtin_daemon && WIFEXITED(status))
		print(how, sizeof how, "%s", strerror(WEXITSTATUS(status)));
	switch (run->state) {
	case STATE_STOPPING:
		lifecycle_gone(id);
		break;
	case STATE_STARTING:
		if (exec_error)
			lifecycle_fail(id, "%s:%u: %s: %s: %s", command_path(&units->unit[id], command), command->line, command->argv[0], step,
				       strerror(-exec_error));
		else
			lifecycle_fail(id, "%s before it was ready", how);
		break;
	case STATE_UP:
		lifecycle_ended(id, !WIFEXITED(status) || WEXITSTATUS(status) != 0, how);
		break;
	default:
		break;
	}
}

void exits_zombie(pid_t pid)
{
	unit_id id = pids_owner(pid);

	if (id != NO_UNIT && runs[id].connections > 0 && runs[id].pid != pid && getpgid(pid) == pid)
		kill(-pid, SIGKILL);
	/* Not after a start command: what that leaves behind is the daemon. */
	if (id != NO_UNIT && runs[id].main == pid && getpgid(pid) == pid && command_is_daemon(&runs_units()->unit[id]) &&
	    runs[id].next_main == 0)
		kill(-pid, SIGKILL);
}

/* Written by a process of its own: wtmp is on a disk. */
static void end_login(unit_id id, pid_t pid)
{
	const struct unit *unit = &runs_units()->unit[id];
	char tty[TTY_BYTES];
	pid_t writer;

	print(tty, sizeof tty, "%s", unit->tty);
	writer = fork();
	if (writer < 0)
		log_say(LOG_FAILURE, "%s: no process to be had for its record in utmp: %s", unit->name, strerror(errno));
	if (writer != 0)
		return;
	loop_become_child();
	child_close_others(NULL, 0);
	logins_end(tty, pid);
	_exit(0);
}

void exits_reaped(pid_t pid, int status, const struct rusage *used)
{
	uint64_t cpu_us = (uint64_t)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000000 +
			  (uint64_t)(used->ru_utime.tv_usec + used->ru_stime.tv_usec);
	unit_id id = pids_owner(pid);
	const char *step = "";
	int exec_error;
	struct run *run;

	if (id == NO_UNIT)
		return;
	run = &runs[id];
	if (runs_units()->unit[id].asks_login)
		end_login(id, pid);
	/* What it said before it ended counts. */
	exec_error = lifecycle_hear(id, &step);
	account_add(ACCOUNT_EXIT, id, (uint32_t)pid, (uint8_t)(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status)),
		    (cpu_us & UINT32_MAX) | (uint64_t)used->ru_maxrss << 32);
	if (pids_end_connection(pid)) {
		connections_ended(runs_units(), id, status);
		if (run->state == STATE_STOPPING)
			lifecycle_gone(id);
	} else if (run->pid == pid) {
		runs_set_pid(id, 0);
		command_ended(id, status, exec_error, step);
	} else {
		runs_set_main(id, 0);
		main_ended(id, status, exec_error, step);
	}
}
