/* SPDX-License-Identifier: MIT */
/* Forks a process for a unit, and learns through a pipe whether its program was executed. */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cgroups.h"
#include "child.h"
#include "loop.h"
#include "output.h"
#include "ready.h"
#include "shared/large.h"
#include "shared/own.h"
#include "sockets.h"
#include "state/runs.h"
#include "state/account.h"
#include "state/log.h"
#include "state/pids.h"
#include "units/copy.h"

enum { NONBLOCKING_TRIES = 8, ERRAND_BYTES = 1 << 16 };

struct spawn_pipes {
	int exec[2], output[2], ready[2];
};

static void close_all(struct spawn_pipes *pipes)
{
	int *const fds[] = { &pipes->exec[0],	&pipes->exec[1],  &pipes->output[0],
			     &pipes->output[1], &pipes->ready[0], &pipes->ready[1] };

	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
		if (*fds[i] >= 0)
			close(*fds[i]);
}

static int open_pipes(const struct unit *unit, bool as_main, struct spawn_pipes *pipes)
{
	*pipes = (struct spawn_pipes){ { -1, -1 }, { -1, -1 }, { -1, -1 } };
	if (pipe2(pipes->exec, O_CLOEXEC) ||
	    (unit->output == OUTPUT_LOG && !unit->tty && pipe2(pipes->output, O_CLOEXEC)) ||
	    (as_main && unit->readiness == READY_FD && pipe2(pipes->ready, O_CLOEXEC))) {
		int r = -errno;

		close_all(pipes);
		return r;
	}
	return 0;
}

/* A read that could wait would stop PID 1 for ever: what cannot be made so is not read at all. */
static bool make_nonblocking(int fd)
{
	for (int i = 0; i < NONBLOCKING_TRIES; i++)
		if (fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
			return true;
	return false;
}

static void watch(int *fd, int *mine, loop_fn *fn, unit_id id)
{
	if (*mine < 0)
		return;
	loop_close(fd);
	if (make_nonblocking(*mine) && loop_watch(*mine, fn, id) == 0)
		*fd = *mine;
	else
		close(*mine);
	*mine = -1;
}

int spawn_result(unit_id id, const char **ret_step)
{
	struct exec_failure failure;
	ssize_t got;

	*ret_step = child_step_name(runs[id].exec_step);
	if (runs[id].exec_fd < 0)
		return runs[id].exec_error;
	got = read(runs[id].exec_fd, &failure, sizeof failure);
	if (got < 0)
		return 1;
	if (got == sizeof failure) {
		runs[id].exec_error = -failure.error;
		runs[id].exec_step = failure.step;
	}
	*ret_step = child_step_name(runs[id].exec_step);
	return runs[id].exec_error;
}

/* As the kernel has it since 5.3. */
struct clone3_arguments {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup;
};

/* What a child is to do. It has none of PID 1's tables (shared/own.h), unless this is too little room for what its file says. */
static struct {
	struct unit unit;
	struct command command;
	char notify_name[sizeof runs->notify_name];
	char texts[ERRAND_BYTES];
} errand LARGE_FIRST;

/* A fork that is in the unit's cgroup from the beginning: to move there costs a process milliseconds (Linux 5.7). */
static pid_t fork_into_cgroup(const struct unit *unit, unit_id id, bool alone)
{
	struct clone3_arguments arguments = { .flags = UINT64_C(0x200000000) /* CLONE_INTO_CGROUP */, .exit_signal = SIGCHLD };
	int group = unit->origin == ORIGIN_LSB ? -1 : cgroups_open(id);
	pid_t pid = -1;

	arguments.cgroup = (uint64_t)group;
	if (group >= 0 && alone)
		pid = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
	if (pid < 0) {
		pid = alone ? fork() : own_fork();
		if (pid == 0)
			cgroups_enter(group);
	}
	if (pid != 0 && group >= 0)
		close(group);
	return pid;
}

int spawn_command(const struct units *units, unit_id id, const struct command *command, bool as_main,
		  const struct spawn_watchers *watchers)
{
	const struct unit *unit = &units->unit[id];
	struct run *run = &runs[id];
	struct arena texts = { .bytes = errand.texts, .size = sizeof errand.texts };
	struct spawn_pipes pipes;
	struct child child;
	bool fits;
	pid_t pid;
	int r = open_pipes(unit, as_main, &pipes);

	if (r)
		return r;
	if (as_main && (unit->readiness == READY_NOTIFY || unit->watchdog_ns > 0)) {
		r = ready_open_notify(id, watchers->notify);
		if (r) {
			close_all(&pipes);
			return r;
		}
	}
	memcpy(errand.notify_name, run->notify_name, sizeof errand.notify_name);
	child = (struct child){ .unit = &errand.unit,
				.command = &errand.command,
				.main = run->main,
				.exec_fd = pipes.exec[1],
				.output_fd = pipes.output[1],
				.ready_fd = pipes.ready[1],
				.sockets = sockets_of(units, id),
				.n_sockets = command->phase == PHASE_START ? unit->n_sockets : 0,
				.notify_name = run->notify_fd >= 0 ? errand.notify_name : NULL };
	fits = copy_unit(&texts, unit, &errand.unit) && copy_command(&texts, command, &errand.command);
	if (!fits) {
		child.unit = unit;
		child.command = command;
	}
	pid = fork_into_cgroup(unit, id, fits);
	if (pid < 0) {
		r = -errno;
		close_all(&pipes);
		return r;
	}
	if (pid == 0)
		child_run(&child);
	runs[id].exec_error = 0;
	runs[id].exec_step = 0;
	watch(&run->exec_fd, &pipes.exec[0], watchers->exec, id);
	watch(!as_main && run->main > 0 ? &run->helper_fd : &run->output_fd, &pipes.output[0], output_readable, id);
	watch(&run->ready_fd, &pipes.ready[0], watchers->ready, id);
	close_all(&pipes);
	if (as_main)
		runs_set_main(id, pid);
	else
		runs_set_pid(id, pid);
	if (command->phase == PHASE_START)
		run->session = pid;
	account_add(ACCOUNT_SPAWN, id, (uint32_t)pid, command->phase, 0);
	return 0;
}

int spawn_connection(const struct units *units, unit_id id, const struct command *command, int connection)
{
	const struct unit *unit = &units->unit[id];
	struct arena texts = { .bytes = errand.texts, .size = sizeof errand.texts };
	struct child child = { .unit = &errand.unit,
			       .command = &errand.command,
			       .exec_fd = -1,
			       .output_fd = runs[id].connections_fd,
			       .ready_fd = -1,
			       .sockets = &connection,
			       .n_sockets = 1 };
	bool fits = copy_unit(&texts, unit, &errand.unit) && copy_command(&texts, command, &errand.command);
	pid_t pid;

	if (!fits) {
		child.unit = unit;
		child.command = command;
	}
	pid = fork_into_cgroup(unit, id, fits);
	if (pid < 0)
		return -errno;
	if (pid == 0)
		child_run(&child);
	pids_add_connection(id, pid);
	runs[id].connections++;
	account_add(ACCOUNT_SPAWN, id, (uint32_t)pid, PHASE_START, 0);
	return 0;
}

int spawn_builtin(const struct units *units, unit_id id, const struct spawn_watchers *watchers)
{
	/* The child has no unit to look at: of PID 1's tables it has none. */
	int (*daemon)(const char *about, int ready_fd) = units->unit[id].builtin_daemon;
	int (*work)(void) = units->unit[id].builtin;
	const char *about = units->unit[id].about;
	struct spawn_pipes pipes = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
	pid_t pid = -1;
	int r = 0;

	if (pipe2(pipes.output, O_CLOEXEC) || (daemon && pipe2(pipes.ready, O_CLOEXEC)) || (pid = fork()) < 0) {
		r = -errno;
		close_all(&pipes);
		return r;
	}
	if (pid == 0) {
		setsid();
		loop_become_child();
		log_become_child(pipes.output[1]);
		/* What reads others' pipes besides PID 1 would keep their writers waiting. */
		child_close_others((const int[]){ pipes.output[1], pipes.ready[1] }, 2);
		r = daemon ? daemon(about, pipes.ready[1]) : work();
		_exit(r < 0 && r > -255 ? -r : r != 0);
	}
	watch(&runs[id].output_fd, &pipes.output[0], output_readable, id);
	watch(&runs[id].ready_fd, &pipes.ready[0], watchers->ready, id);
	close_all(&pipes);
	if (daemon)
		runs_set_main(id, pid);
	else
		runs_set_pid(id, pid);
	account_add(ACCOUNT_SPAWN, id, (uint32_t)pid, PHASE_START, 0);
	return 0;
}

pid_t spawn_shell(const char *program)
{
	const char *const argv[] = { program, NULL };
	const struct unit unit = { .name = "emergency", .tty = "/dev/console", .ready_fd = -1, .umask = 022 };
	const struct command command = { .argv = argv };
	pid_t pid = fork();

	if (pid == 0)
		child_run(&(struct child){ .unit = &unit, .command = &command, .exec_fd = -1, .output_fd = -1, .ready_fd = -1 });
	return pid < 0 ? -errno : pid;
}
