/* SPDX-License-Identifier: MIT */
/* Takes one unit from state to state: begin, ready, failed, stopping, down. */
#include "lifecycle.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include "connections.h"
#include "goal.h"
#include "process/cgroups.h"
#include "process/command.h"
#include "process/output.h"
#include "process/ready.h"
#include "process/sockets.h"
#include "shared/clock.h"
#include "shared/own.h"
#include "shared/print.h"
#include "state/account.h"
#include "state/log.h"
#include "units/conditions.h"

enum { MAX_BACKOFF_S = 60, MAX_DOUBLINGS = 12, STEADY_S = 10, KILL_AGAIN_S = 1, KILLS = 3 };

static const struct units *units;
static lifecycle_settled_fn *settled;
static uint8_t *kills;

static void exec_readable(int fd, unsigned id);
static void ready_readable(int fd, unsigned id);
static void notify_readable(int fd, unsigned id);

static const struct spawn_watchers WATCHERS = { exec_readable, ready_readable, notify_readable };

void lifecycle_init(const struct units *all, lifecycle_settled_fn *told)
{
	OWN_TABLE(kills, MAX_UNITS);
	units = all;
	settled = told;
}

/* ---- Down ---------------------------------------------------------------------------------------------------------------- */

static void down(unit_id id, enum state state)
{
	const struct unit *unit = &units->unit[id];
	struct run *run = &runs[id];
	int64_t now_ns = clock_awake_ns();

	/* Somebody wanted it stopped while it was ending of itself. */
	if (run->stop_wanted && state == STATE_BACKOFF)
		state = STATE_OFF;
	account_add(ACCOUNT_DOWN, id, 0, (uint8_t)state, 0);
	if (unit->on_disk == DISK_CHANGED) {
		struct unit was = *unit;

		runs_take_later(id);
		sockets_change(units, &was, id);
	}
	/* What has run for a while begins anew with its patience. */
	if (run->up_ns > 0 && now_ns - run->up_ns > STEADY_S * NS_PER_S)
		run->restarts = 0;
	run->up_ns = 0;
	run->stop_wanted = false;
	runs_enter(id, state);
	if (state != STATE_BACKOFF && !run->start_wanted)
		sockets_close(units, id);
	if (state == STATE_BACKOFF) {
		/* What fails without a process could fail again at once, for ever, and leave no time for anything else. */
		int64_t least_ns = RUNS_POLL_MS * NS_PER_MS;
		int64_t delay_ns = unit->restart_delay_ns > least_ns ? unit->restart_delay_ns : least_ns;
		/* Of a file that asks for more patience than a minute it is never less. */
		int64_t most_ns = delay_ns > MAX_BACKOFF_S * NS_PER_S ? delay_ns : MAX_BACKOFF_S * NS_PER_S;

		for (uint32_t i = 0; i < run->restarts && i < MAX_DOUBLINGS && delay_ns < most_ns; i++)
			delay_ns *= 2;
		run->restarts++;
		runs_set_deadline(id, now_ns + (delay_ns < most_ns ? delay_ns : most_ns));
	}
	settled(id);
}

/* Nothing of its processes is left. */
static void forget_processes(unit_id id)
{
	struct run *run = &runs[id];

	output_drain(id);
	loop_close(&run->exec_fd);
	loop_close(&run->ready_fd);
	loop_close(&run->notify_fd);
	/* What else of it writes writes into the void. */
	loop_close(&run->output_fd);
	loop_close(&run->helper_fd);
	connections_forget(id);
	run->next_main = run->session = 0;
	cgroups_remove(id);
}

static void finish_stop(unit_id id)
{
	forget_processes(id);
	down(id, runs[id].after_stop);
}

void lifecycle_gone(unit_id id)
{
	if (!command_is_alive(units, id))
		finish_stop(id);
	else if (!command_has_process(&runs[id]))
		runs_set_poll_leftovers(id, true); /* nothing tells of them */
}

static void ask_to_end(unit_id id)
{
	const struct unit *unit = &units->unit[id];

	command_signal(units, id, unit->stop_signal ? unit->stop_signal : SIGTERM);
	if (unit->hangs_up)
		command_signal(units, id, SIGHUP);
}

static void terminate(unit_id id)
{
	/* No stop command runs any more, if there was one: when its time is over, the unit is killed. */
	runs[id].phase = PHASE_TERMINATE;
	if (command_is_alive(units, id))
		ask_to_end(id);
	lifecycle_gone(id);
}

/* ---- Up ------------------------------------------------------------------------------------------------------------------ */

static void group_is_empty(unit_id id)
{
	if (runs[id].state == STATE_UP && runs[id].main <= 0)
		lifecycle_ended(id, false, "all that it has started has ended");
}

/* It is up as long as something of it runs; where that cannot be seen, until it is stopped. */
static void watch_group(unit_id id)
{
	static bool told;

	if (cgroups_watch(id, group_is_empty) || told)
		return;
	told = true;
	log_say(LOG_FAILURE,
		"%s names no pid file, and there is no cgroup v2: such units are up until they are stopped, and what leaves their "
		"process group is not stopped with them",
		units->unit[id].name);
}

void lifecycle_up(unit_id id)
{
	struct run *run = &runs[id];

	bool demanded = run->demanded;

	run->demanded = false;
	runs_enter(id, STATE_UP);
	run->up_ns = run->since_ns;
	account_add(ACCOUNT_READY, id, (uint32_t)(run->main > 0 ? run->main : 0), 0, runs_count(STATE_STARTING));
	if (run->watchdog_ns > 0)
		runs_feed_watchdog(id);
	/* It has been up before, for all others. */
	if (!demanded)
		goal_unit_up(id);
	settled(id);
	if (units->unit[id].readiness == READY_FORK && run->main <= 0)
		watch_group(id);
}

static void run_current(unit_id id)
{
	const char *address;
	int r = command_run(units, id, &WATCHERS, &address);

	if (r < 0)
		lifecycle_fail(id, "listen %s: %s", address, strerror(-r));
}

static void next_command(unit_id id, uint16_t from)
{
	struct run *run = &runs[id];

	for (;; from = 0, run->phase++) {
		if (command_find(units, id, from)) {
			run_current(id);
			return;
		}
		switch (run->phase) {
		case PHASE_PRE:
			break;
		case PHASE_START:
			/* The pid of a daemon that forks is in its file, now or soon. */
			if (units->unit[id].readiness == READY_FORK && units->unit[id].pidfile && !ready_look_at_pidfile(id)) {
				runs_set_poll_pidfile(id, true);
				return;
			}
			break;
		case PHASE_POST:
			lifecycle_up(id);
			return;
		default:
			terminate(id);
			return;
		}
	}
}

void lifecycle_next(unit_id id)
{
	next_command(id, (uint16_t)(runs[id].command + 1));
}

static void start_done(unit_id id)
{
	runs_set_poll_pidfile(id, false);
	runs[id].phase = PHASE_POST;
	next_command(id, 0);
}

static void connected(int fd, unsigned argument)
{
	unit_id id = (unit_id)argument;
	struct run *run = &runs[id];

	(void)fd;
	sockets_unwatch(units, id);
	if (run->state != STATE_UP || run->phase != PHASE_LISTEN || runs_ending)
		return;
	log_say(LOG_NOTE, "%s is asked for, and started", units->unit[id].name);
	run->demanded = true;
	runs_enter(id, STATE_STARTING);
	if (units->unit[id].start_timeout_ns > 0)
		runs_set_deadline(id, run->since_ns + units->unit[id].start_timeout_ns);
	run->phase = PHASE_PRE;
	next_command(id, 0);
}

static void watch_for_demand(unit_id id)
{
	int r = sockets_watch(units, id, connected);

	if (r)
		lifecycle_fail(id, "its sockets cannot be watched: %s", strerror(-r));
}

static void listen_for_demand(unit_id id)
{
	int r = units->unit[id].each_connection ? connections_listen(units, id) : 0;

	runs[id].phase = PHASE_LISTEN;
	if (r)
		lifecycle_fail(id, "its sockets cannot be watched: %s", strerror(-r));
	else if (!units->unit[id].each_connection)
		watch_for_demand(id);
}

/* Who ended without taking the connection would be started for it again at once, and again, without end. */
static void listen_again_later(unit_id id)
{
	runs[id].phase = PHASE_LISTEN;
	runs[id].is_full = true;
	runs_open_window(id);
}

/* Its sockets are what it is up by. */
static void begin_listening(unit_id id)
{
	const char *address = "";
	int r = sockets_open(units, id, &address);

	if (r < 0) {
		lifecycle_fail(id, "listen %s: %s", address, strerror(-r));
		return;
	}
	lifecycle_up(id);
	listen_for_demand(id);
}

static bool is_left_out(unit_id id)
{
	const struct condition *unmet = condition_unmet(&units->unit[id]);
	struct run *run = &runs[id];

	if (!unmet)
		return false;
	if (unmet->must) {
		lifecycle_fail(id, "line %u: what must hold does not: %s", unmet->line, unmet->said);
		return true;
	}
	print(run->why, sizeof run->why, "its condition does not hold: %s (line %u)", unmet->said, unmet->line);
	log_say(LOG_NOTE, "%s is left out by its condition: %s (line %u)", units->unit[id].name, unmet->said, unmet->line);
	down(id, STATE_LEFT_OUT);
	return true;
}

void lifecycle_begin(unit_id id)
{
	const struct unit *unit = &units->unit[id];
	struct run *run = &runs[id];

	run->why[0] = run->last_line[0] = '\0';
	run->pidfile_refused = run->main_refused = run->demanded = false;
	run->watchdog_ns = unit->watchdog_ns;
	kills[id] = 0;
	if (unit->conditions && is_left_out(id))
		return;
	if (unit->builtin && !unit->builtin_waits) {
		int r = unit->builtin();

		if (r < 0)
			lifecycle_fail(id, "%s", strerror(-r));
		else
			lifecycle_up(id);
		return;
	}
	if (unit->n_commands == 0 && unit->origin != ORIGIN_BUILTIN) {
		lifecycle_up(id);
		return;
	}
	if (unit->on_demand) {
		begin_listening(id);
		return;
	}
	runs_enter(id, STATE_STARTING);
	if (unit->start_timeout_ns > 0)
		runs_set_deadline(id, run->since_ns + unit->start_timeout_ns);
	run->phase = unit->builtin_daemon ? PHASE_START : PHASE_PRE;
	if (unit->origin == ORIGIN_BUILTIN)
		run_current(id);
	else
		next_command(id, 0);
}

/* ---- Reloaded ------------------------------------------------------------------------------------------------------------ */

/* Whatever became of it, the unit is up as before. */
static void end_reload(unit_id id)
{
	runs[id].phase = PHASE_POST;
	runs_set_spawn_again(id, false);
	runs_set_deadline(id, 0);
}

static void forget_reload(unit_id id)
{
	struct run *run = &runs[id];

	if (run->pid <= 0)
		return;
	/* Its end is nothing to the unit any more. */
	command_signal_helper(run, SIGKILL);
	runs_set_pid(id, 0);
	end_reload(id);
}

static bool find_reload(unit_id id, uint16_t from)
{
	runs[id].phase = PHASE_RELOAD;
	if (command_find(units, id, from))
		return true;
	runs[id].phase = PHASE_POST;
	return false;
}

int lifecycle_reload(unit_id id)
{
	const struct unit *unit = &units->unit[id];
	struct run *run = &runs[id];

	if (run->state != STATE_UP || run->phase == PHASE_LISTEN)
		return -ENOTCONN;
	if (run->phase == PHASE_RELOAD)
		return -EALREADY;
	run->reload_failed = false;
	if (unit->reload_signal && run->main > 0) {
		kill(run->main, unit->reload_signal);
		account_add(ACCOUNT_RELOAD, id, (uint32_t)run->main, unit->reload_signal, 0);
	}
	if (find_reload(id, 0)) {
		account_add(ACCOUNT_RELOAD, id, 0, 0, 0);
		if (unit->start_timeout_ns > 0)
			runs_set_deadline(id, clock_awake_ns() + unit->start_timeout_ns);
		run_current(id);
	} else if (!unit->reload_signal || run->main <= 0) {
		return -EOPNOTSUPP;
	}
	return 0;
}

void lifecycle_reloaded(unit_id id, const char *how)
{
	if (!how && find_reload(id, (uint16_t)(runs[id].command + 1))) {
		run_current(id);
		return;
	}
	runs[id].reload_failed = how != NULL;
	if (how)
		log_say(LOG_FAILURE, "%s: its reload command %s; it runs on as it was", units->unit[id].name, how);
	else
		log_say(LOG_NOTE, "%s is reloaded", units->unit[id].name);
	end_reload(id);
}

void lifecycle_reload_late(unit_id id)
{
	if (runs[id].phase != PHASE_RELOAD)
		return;
	if (runs[id].pid > 0)
		forget_reload(id);
	lifecycle_reloaded(id, "did not end in time");
}

/* ---- Stopped, or failed -------------------------------------------------------------------------------------------------- */

void lifecycle_stop(unit_id id, enum state after)
{
	struct run *run = &runs[id];
	bool was_up = run->state == STATE_UP, was_active = was_up || run->state == STATE_STARTING;

	run->after_stop = (uint8_t)after;
	if (run->state == STATE_STOPPING)
		return;
	if (!was_active) {
		down(id, after);
		return;
	}
	account_add(ACCOUNT_STOPPING, id, 0, 0, 0);
	if (was_up)
		forget_reload(id);
	runs_enter(id, STATE_STOPPING);
	kills[id] = 0;
	if (units->unit[id].stop_timeout_ns > 0)
		runs_set_deadline(id, run->since_ns + units->unit[id].stop_timeout_ns);
	/* What needs it is told before it is down, which may take a while. */
	if (was_up)
		settled(id);
	if (run->phase == PHASE_LISTEN)
		sockets_unwatch(units, id);
	/* A program that does not run needs no command to stop it. */
	if (was_up && after == STATE_OFF && run->phase != PHASE_LISTEN) {
		run->phase = PHASE_STOP;
		next_command(id, 0);
	} else {
		terminate(id);
	}
}

void lifecycle_kill(unit_id id)
{
	struct run *run = &runs[id];

	/* The stop command is the one that took too long: what it should have stopped has not been asked yet. */
	if (run->phase == PHASE_STOP) {
		log_say(LOG_FAILURE, "%s: its stop command did not end in time, and is killed", units->unit[id].name);
		run->phase = PHASE_TERMINATE;
		runs_set_spawn_again(id, false);
		command_signal_helper(run, SIGKILL);
		runs_set_deadline(id, clock_awake_ns() + units->unit[id].stop_timeout_ns);
		terminate(id);
		return;
	}
	run->phase = PHASE_TERMINATE;
	runs_set_spawn_again(id, false);
	if (kills[id]++ == KILLS) {
		log_say(LOG_FAILURE, "%s: process %d cannot be killed; it is left behind", units->unit[id].name,
			(int)(run->main > 0 ? run->main : run->pid));
		runs_set_pid(id, 0);
		runs_set_main(id, 0);
		finish_stop(id);
		return;
	}
	if (!command_is_alive(units, id)) {
		finish_stop(id);
		return;
	}
	if (kills[id] == 1)
		log_say(LOG_FAILURE, "%s did not stop in time, and is killed", units->unit[id].name);
	command_signal(units, id, SIGKILL);
	if (!command_has_process(run))
		runs_set_poll_leftovers(id, true);
	runs_set_deadline(id, clock_awake_ns() + KILL_AGAIN_S * NS_PER_S);
}

void lifecycle_starved(unit_id id)
{
	int64_t limit_ns = runs[id].watchdog_ns;

	/* The timer of an earlier time that it was up is not taken back; who waits to be asked for has no program to feed it. */
	if (runs[id].state != STATE_UP || runs[id].phase == PHASE_LISTEN || limit_ns <= 0)
		return;
	/* For a dump of where it hangs; its stop follows. */
	if (runs[id].main > 0)
		kill(runs[id].main, SIGABRT);
	lifecycle_fail(id, "its watchdog was not fed for %lld.%03lld s, or it said that it is not well", (long long)(limit_ns / NS_PER_S),
		       (long long)(limit_ns % NS_PER_S / NS_PER_MS));
}

static enum state after_failure(unit_id id)
{
	const struct unit *unit = &units->unit[id];
	struct run *run = &runs[id];

	if (unit->restart == RESTART_NO || runs_ending || run->stop_wanted)
		return STATE_FAILED;
	if (unit->restart_limit > 0 && run->restarts >= unit->restart_limit)
		return STATE_FAILED;
	return STATE_BACKOFF;
}

void lifecycle_fail(unit_id id, const char *format, ...)
{
	struct run *run = &runs[id];
	va_list arguments;

	if (run->state == STATE_STOPPING || run->state == STATE_FAILED)
		return;
	va_start(arguments, format);
	print_list(run->why, sizeof run->why, format, arguments);
	va_end(arguments);
	log_say(LOG_FAILURE, "%s failed: %s%s%s", units->unit[id].name, run->why, *run->last_line ? "; its last words: " : "",
		run->last_line);
	goal_unit_failed(id);
	account_add(ACCOUNT_FAILED, id, (uint32_t)(run->main > 0 ? run->main : 0), 0, run->restarts);
	lifecycle_stop(id, units->unit[id].broken ? STATE_FAILED : after_failure(id));
}

void lifecycle_ended(unit_id id, bool failed, const char *how)
{
	struct run *run = &runs[id];

	if (failed) {
		lifecycle_fail(id, "%s", how);
	} else if (units->unit[id].on_demand && run->phase != PHASE_LISTEN && !run->stop_wanted && !runs_ending) {
		forget_reload(id);
		end_reload(id);
		/* It had nothing more to do. What it has left behind goes with it. */
		if (command_is_alive(units, id))
			command_signal(units, id, SIGKILL);
		forget_processes(id);
		log_say(LOG_NOTE, "%s ended, and listens again", units->unit[id].name);
		listen_again_later(id);
	} else if (units->unit[id].restart == RESTART_ALWAYS) {
		log_say(LOG_NOTE, "%s ended, and is started again", units->unit[id].name);
		lifecycle_stop(id, after_failure(id));
	} else {
		print(run->why, sizeof run->why, "%s", how);
		lifecycle_stop(id, STATE_OFF);
	}
}

/* ---- What its processes say ---------------------------------------------------------------------------------------------- */

void lifecycle_poll(unit_id id)
{
	if (runs[id].spawn_again)
		run_current(id);
	if (runs[id].poll_pidfile && ready_look_at_pidfile(id) && runs[id].state == STATE_STARTING)
		start_done(id);
	else if (runs[id].poll_leftovers && runs[id].state == STATE_STOPPING)
		lifecycle_gone(id);
	else if (runs[id].poll_pidfile)
		runs_set_poll_pidfile(id, true);
}

void lifecycle_window_over(unit_id id)
{
	runs_close_window(id);
	loop_resume(runs[id].output_fd);
	loop_resume(runs[id].helper_fd);
	loop_resume(runs[id].notify_fd);
	loop_resume(runs[id].ready_fd);
	if (!runs[id].is_full)
		return;
	if (units->unit[id].each_connection) {
		connections_try_again(units, id);
	} else {
		runs[id].is_full = false;
		if (runs[id].state == STATE_UP && runs[id].phase == PHASE_LISTEN)
			watch_for_demand(id);
	}
}

static void executed(unit_id id)
{
	struct run *run = &runs[id];
	const struct unit *unit = &units->unit[id];

	account_add(ACCOUNT_EXEC, id, (uint32_t)(run->pid > 0 ? run->pid : run->main), run->phase, 0);
	if (run->state != STATE_STARTING || run->phase != PHASE_START || !command_is_daemon(unit))
		return;
	if (unit->readiness == READY_EXEC)
		start_done(id);
	if (unit->readiness == READY_PIDFILE)
		runs_set_poll_pidfile(id, true);
}

static void exec_readable(int fd, unsigned id)
{
	const char *step;
	int r = spawn_result((unit_id)id, &step);

	(void)fd;
	if (r == 1)
		return;
	loop_close(&runs[id].exec_fd);
	if (r == 0)
		executed((unit_id)id);
	/* What failed is said when the child is reaped, which is at once. */
}

static void became_ready(unit_id id)
{
	if (runs[id].state == STATE_STARTING && runs[id].phase == PHASE_START && command_is_daemon(&units->unit[id]))
		start_done(id);
}

static void ready_readable(int fd, unsigned argument)
{
	unit_id id = (unit_id)argument;
	enum ready_line line = ready_read_line(id);

	(void)fd;
	if (line == LINE_WRITTEN)
		became_ready(id);
	else if (line == LINE_MISSING && runs[id].state == STATE_STARTING)
		lifecycle_fail(id, "closed its readiness descriptor without writing a line to it");
}

void lifecycle_notified(unit_id id)
{
	ready_drain_notify(id, became_ready);
}

static void notify_readable(int fd, unsigned id)
{
	(void)fd;
	lifecycle_notified((unit_id)id);
}

int lifecycle_hear(unit_id id, const char **ret_step)
{
	struct run *run = &runs[id];
	int error = spawn_result(id, ret_step);

	if (run->exec_fd >= 0) {
		loop_close(&run->exec_fd);
		if (error == 0)
			executed(id);
	}
	output_drain(id);
	lifecycle_notified(id);
	if (run->ready_fd >= 0)
		ready_readable(run->ready_fd, id);
	return error > 0 ? 0 : error;
}
