/* SPDX-License-Identifier: MIT */
#include "lifecycle.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/loop.h"
#include "process/output.h"
#include "process/ready.h"
#include "process/sockets.h"
#include "process/spawn.h"
#include "shared/clock.h"
#include "state/account.h"
#include "state/log.h"

enum { KILL_AGAIN_S = 1, KILLS = 3, LSB_NOT_INSTALLED = 5, LSB_NOT_CONFIGURED = 6, HOW_BYTES = 100 };

static struct units *units;
static uint8_t kills[MAX_UNITS];

void lifecycle_init(struct units *all)
{
	units = all;
}

/* Its program goes on running, and is the daemon. */
static bool stays(const struct unit *unit)
{
	return unit->readiness != READY_EXIT && unit->readiness != READY_FORK;
}

static const struct command *current(unit_id id)
{
	return &units->commands[units->unit[id].first_command + runs[id].command];
}

/* The next command of this phase from `from` on; false when there is none. */
static bool find_command(unit_id id, uint16_t from)
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

static void run_current(unit_id id)
{
	struct run *run = &runs[id];
	bool tried = run->spawn_again, sockets_there;
	const char *address;
	int r = run->phase == PHASE_START ? sockets_open(units, id, &address) : 0;

	if (r < 0 && !is_for_want(r)) {
		run->spawn_again = false;
		supervise_fail(id, "listen %s: %s", address, strerror(-r));
		return;
	}
	sockets_there = r == 0;
	if (sockets_there)
		r = units->unit[id].origin == ORIGIN_BUILTIN ?
			    spawn_builtin(units, id) :
			    spawn_command(units, id, current(id), run->phase == PHASE_START && stays(&units->unit[id]));
	run->spawn_again = r < 0;
	if (r < 0 && !tried)
		log_say(LOG_FAILURE, "%s: no %s for it (%s): trying again", units->unit[id].name,
			sockets_there ? "process" : "socket", strerror(-r));
}

static bool is_alive(const struct run *run)
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

static void finish_stop(unit_id id)
{
	struct run *run = &runs[id];

	output_drain(id);
	loop_close(&run->exec_fd);
	loop_close(&run->ready_fd);
	loop_close(&run->notify_fd);
	/* What else of it writes writes into the void. */
	loop_close(&run->output_fd);
	loop_close(&run->helper_fd);
	run->next_main = 0;
	supervise_down(id, run->after_stop);
}

static void terminate(unit_id id)
{
	struct run *run = &runs[id];

	if (!is_alive(run)) {
		finish_stop(id);
		return;
	}
	signal_process(run->pid, SIGTERM);
	signal_process(run->main, SIGTERM);
}

static void next_command(unit_id id, uint16_t from)
{
	struct run *run = &runs[id];

	for (;; from = 0, run->phase++) {
		if (find_command(id, from)) {
			run_current(id);
			return;
		}
		switch (run->phase) {
		case PHASE_PRE:
			break;
		case PHASE_START:
			/* The pid of a daemon that forks is in its file, now or soon. */
			if (units->unit[id].readiness == READY_FORK && units->unit[id].pidfile && !ready_look_at_pidfile(id)) {
				run->poll_pidfile = true;
				return;
			}
			break;
		case PHASE_POST:
			supervise_up(id);
			return;
		default:
			terminate(id);
			return;
		}
	}
}

static void start_done(unit_id id)
{
	runs[id].poll_pidfile = false;
	runs[id].phase = PHASE_POST;
	next_command(id, 0);
}

void lifecycle_begin(unit_id id)
{
	const struct unit *unit = &units->unit[id];
	struct run *run = &runs[id];

	run->why[0] = run->last_line[0] = '\0';
	kills[id] = 0;
	if (unit->builtin && !unit->builtin_waits) {
		int r = unit->builtin();

		if (r < 0)
			supervise_fail(id, "%s", strerror(-r));
		else
			supervise_up(id);
		return;
	}
	if (unit->n_commands == 0 && unit->origin != ORIGIN_BUILTIN) {
		supervise_up(id);
		return;
	}
	supervise_enter(id, STATE_STARTING);
	if (unit->start_timeout_ns > 0)
		run->deadline_ns = run->since_ns + unit->start_timeout_ns;
	run->phase = unit->builtin_daemon ? PHASE_START : PHASE_PRE;
	if (unit->origin == ORIGIN_BUILTIN)
		run_current(id);
	else
		next_command(id, 0);
}

void lifecycle_stop(unit_id id, enum state after)
{
	struct run *run = &runs[id];
	bool was_up = run->state == STATE_UP, was_active = was_up || run->state == STATE_STARTING;

	run->after_stop = (uint8_t)after;
	if (run->state == STATE_STOPPING)
		return;
	if (!was_active) {
		supervise_down(id, after);
		return;
	}
	account_add(ACCOUNT_STOPPING, id, 0, 0, 0);
	supervise_enter(id, STATE_STOPPING);
	kills[id] = 0;
	run->deadline_ns = run->since_ns +
			   (units->unit[id].stop_timeout_ns > 0 ? units->unit[id].stop_timeout_ns : INT64_MAX / 2);
	if (was_up && after == STATE_OFF) {
		run->phase = PHASE_STOP;
		next_command(id, 0);
	} else {
		terminate(id);
	}
}

void lifecycle_kill(unit_id id)
{
	struct run *run = &runs[id];

	run->phase = PHASE_STOP + 1;
	run->spawn_again = false;
	if (kills[id]++ == KILLS) {
		log_say(LOG_FAILURE, "%s: process %d cannot be killed; it is left behind", units->unit[id].name,
			(int)(run->main > 0 ? run->main : run->pid));
		run->pid = run->main = 0;
	}
	if (!is_alive(run)) {
		finish_stop(id);
		return;
	}
	if (kills[id] == 1)
		log_say(LOG_FAILURE, "%s did not stop in time, and is killed", units->unit[id].name);
	signal_process(run->pid, SIGKILL);
	signal_process(run->main, SIGKILL);
	run->deadline_ns = clock_now_ns() + KILL_AGAIN_S * NS_PER_S;
}

void lifecycle_try_again(unit_id id)
{
	run_current(id);
}

void lifecycle_pidfile_found(unit_id id)
{
	if (runs[id].state == STATE_STARTING)
		start_done(id);
}

void supervise_executed(unit_id id)
{
	struct run *run = &runs[id];
	const struct unit *unit = &units->unit[id];

	account_add(ACCOUNT_EXEC, id, (uint32_t)(run->pid > 0 ? run->pid : run->main), run->phase, 0);
	if (run->state != STATE_STARTING || run->phase != PHASE_START || !stays(unit))
		return;
	if (unit->readiness == READY_EXEC)
		start_done(id);
	if (unit->readiness == READY_PIDFILE)
		run->poll_pidfile = true;
}

void supervise_ready(unit_id id)
{
	if (runs[id].state == STATE_STARTING && runs[id].phase == PHASE_START && stays(&units->unit[id]))
		start_done(id);
}

void supervise_set_main(unit_id id, pid_t pid)
{
	runs[id].main = pid;
}

void supervise_extend(unit_id id, int64_t more_ns)
{
	int64_t now_ns = clock_now_ns();

	if ((runs[id].state == STATE_STARTING || runs[id].state == STATE_STOPPING) && runs[id].deadline_ns > 0 &&
	    now_ns + more_ns > runs[id].deadline_ns)
		runs[id].deadline_ns = now_ns + more_ns;
}

/* ---- What ended ---------------------------------------------------------------------------------------------------------- */

static const char *how_it_ended(char *how, int status)
{
	if (WIFSIGNALED(status))
		snprintf(how, HOW_BYTES, "killed by signal %d", WTERMSIG(status));
	else
		snprintf(how, HOW_BYTES, "ended with status %d", WEXITSTATUS(status));
	return how;
}

static void command_ended(unit_id id, int status, int exec_error, const char *step)
{
	const struct unit *unit = &units->unit[id];
	const struct command *command = unit->origin == ORIGIN_BUILTIN ? NULL : current(id);
	struct run *run = &runs[id];
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	char how[HOW_BYTES];

	if (run->state == STATE_STOPPING) {
		if (run->phase == PHASE_STOP)
			next_command(id, (uint16_t)(run->command + 1));
		else if (!is_alive(run))
			finish_stop(id);
		return;
	}
	if (run->state != STATE_STARTING)
		return;
	if (unit->origin == ORIGIN_BUILTIN) {
		if (code == 0)
			supervise_up(id);
		else
			supervise_fail(id, "%s", code > 0 ? strerror(code) : how_it_ended(how, status));
		return;
	}
	if (exec_error) {
		supervise_fail(id, "%s:%u: %s: %s: %s", unit->path, command->line, command->argv[0], step, strerror(-exec_error));
	} else if (unit->origin == ORIGIN_LSB && (code == LSB_NOT_INSTALLED || code == LSB_NOT_CONFIGURED)) {
		snprintf(run->why, sizeof run->why, "it says that it is not %s",
			 code == LSB_NOT_INSTALLED ? "installed" : "configured");
		next_command(id, (uint16_t)(run->command + 1));
	} else if (code != 0 && !command->may_fail) {
		supervise_fail(id, "%s %s", command->argv[0], how_it_ended(how, status));
	} else {
		next_command(id, (uint16_t)(run->command + 1));
	}
}

static void main_ended(unit_id id, int status, int exec_error, const char *step)
{
	const struct command *command = current(id);
	struct run *run = &runs[id];
	char how[HOW_BYTES];

	/* It handed over to a process that has become ours by its end. */
	if (run->next_main > 0 && ready_is_child(run->next_main) && run->state != STATE_STOPPING) {
		run->main = run->next_main;
		run->next_main = 0;
		return;
	}
	how_it_ended(how, status);
	if (units->unit[id].builtin_daemon && WIFEXITED(status))
		snprintf(how, sizeof how, "%s", strerror(WEXITSTATUS(status)));
	switch (run->state) {
	case STATE_STOPPING:
		if (!is_alive(run))
			finish_stop(id);
		break;
	case STATE_STARTING:
		if (exec_error)
			supervise_fail(id, "%s:%u: %s: %s: %s", units->unit[id].path, command->line, command->argv[0], step,
				       strerror(-exec_error));
		else
			supervise_fail(id, "%s before it was ready", how);
		break;
	case STATE_UP:
		supervise_ended(id, !WIFEXITED(status) || WEXITSTATUS(status) != 0, how);
		break;
	default:
		break;
	}
}

static unit_id find_unit(pid_t pid)
{
	for (size_t i = 0; i < units->n_units; i++)
		if (runs[i].pid == pid || runs[i].main == pid)
			return (unit_id)i;
	return NO_UNIT;
}

void lifecycle_ending(pid_t pid)
{
	unit_id id = find_unit(pid);

	/* Not after a start command: what that leaves behind is the daemon. */
	if (id != NO_UNIT && runs[id].main == pid && getpgid(pid) == pid && stays(&units->unit[id]) &&
	    runs[id].next_main == 0)
		kill(-pid, SIGKILL);
}

void supervise_child(pid_t pid, int status, const struct rusage *used)
{
	uint64_t cpu_us = (uint64_t)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000000 +
			  (uint64_t)(used->ru_utime.tv_usec + used->ru_stime.tv_usec);
	unit_id id = find_unit(pid);
	const char *step = "";
	int exec_error;
	struct run *run;

	if (id == NO_UNIT)
		return;
	run = &runs[id];
	/* What it said before it ended counts. */
	exec_error = spawn_result(id, &step);
	if (run->exec_fd >= 0) {
		loop_close(&run->exec_fd);
		if (exec_error == 0)
			supervise_executed(id);
	}
	output_drain(id);
	ready_drain_notify(id);
	if (run->ready_fd >= 0)
		ready_fd_readable(run->ready_fd, id);
	account_add(ACCOUNT_EXIT, id, (uint32_t)pid, (uint8_t)(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status)),
		    (cpu_us & UINT32_MAX) | (uint64_t)used->ru_maxrss << 32);
	exec_error = exec_error > 0 ? 0 : exec_error;
	if (run->pid == pid) {
		run->pid = 0;
		command_ended(id, status, exec_error, step);
	} else {
		run->main = 0;
		main_ended(id, status, exec_error, step);
	}
}
