/* SPDX-License-Identifier: MIT */
/* Accepts connections for units, and gives each a process. */
#include "connections.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/command.h"
#include "process/output.h"
#include "process/sockets.h"
#include "process/spawn.h"
#include "shared/print.h"
#include "state/log.h"
#include "state/pids.h"

enum { SAID_BYTES = 80 };

static bool has_passed(int error)
{
	return error == EAGAIN || error == EINTR || error == ECONNABORTED || error == EPROTO;
}

/* Until one has ended, or for a while: who comes meanwhile waits. */
static void stop_accepting(unit_id id, bool for_a_while)
{
	runs[id].is_full = true;
	sockets_unwatch(runs_units(), id);
	if (for_a_while)
		runs_open_window(id);
}

static void connected(int fd, unsigned argument)
{
	unit_id id = (unit_id)argument;
	const struct units *units = runs_units();
	const struct unit *unit = &units->unit[id];
	struct run *run = &runs[id];
	int connection, r;

	if (run->state != STATE_UP || run->phase != PHASE_LISTEN || runs_ending)
		return;
	errno = EUSERS;
	connection = pids_has_room() ? accept4(fd, NULL, NULL, SOCK_CLOEXEC) : -1;
	if (connection < 0 && has_passed(errno))
		return;
	r = connection < 0 ? -errno : spawn_connection(units, id, command_current(units, id), connection);
	if (connection >= 0)
		close(connection);
	if (r) {
		log_say(LOG_FAILURE, "%s: nothing to be had for a connection: %s", unit->name, strerror(-r));
		stop_accepting(id, true);
	} else if (run->connections >= unit->each_connection) {
		if (!run->full_told)
			log_say(LOG_NOTE, "%s: %u connections at once, as many as each-connection says: others wait", unit->name,
				(unsigned)run->connections);
		run->full_told = true;
		stop_accepting(id, false);
	}
}

int connections_listen(const struct units *units, unit_id id)
{
	struct run *run = &runs[id];
	int ends[2];

	run->is_full = run->full_told = false;
	run->phase = PHASE_START;
	command_find(units, id, 0);
	if (units->unit[id].output == OUTPUT_LOG && run->output_fd < 0) {
		if (pipe2(ends, O_CLOEXEC))
			return -errno;
		run->connections_fd = ends[1];
		run->output_fd = ends[0];
		if (fcntl(ends[0], F_SETFL, O_NONBLOCK) || loop_watch(ends[0], output_readable, id))
			return -EMFILE;
	}
	return sockets_watch(units, id, connected);
}

void connections_try_again(const struct units *units, unit_id id)
{
	struct run *run = &runs[id];

	if (!run->is_full || run->state != STATE_UP || run->phase != PHASE_LISTEN || runs_ending ||
	    run->connections >= units->unit[id].each_connection)
		return;
	run->is_full = false;
	if (sockets_watch(units, id, connected))
		stop_accepting(id, true);
}

void connections_ended(const struct units *units, unit_id id, int status)
{
	char said[SAID_BYTES];

	runs[id].connections--;
	if (WIFSIGNALED(status))
		print(said, sizeof said, "the process of a connection was killed by signal %d", WTERMSIG(status));
	else
		print(said, sizeof said, "the process of a connection ended with status %d", WEXITSTATUS(status));
	/* In its own part of the log: who connects must not be able to fill PID 1's. */
	if (status != 0)
		log_line(id, units->unit[id].name, said);
	connections_try_again(units, id);
}

void connections_forget(unit_id id)
{
	uint32_t at = 0;
	pid_t pid;

	while (runs[id].connections > 0 && (pid = pids_next_connection(id, &at)) > 0)
		pids_end_connection(pid);
	runs[id].connections = 0;
	loop_close(&runs[id].connections_fd);
}
