/* SPDX-License-Identifier: MIT */
/* Reads the pipes of units' processes and puts their lines into the log. */
#include "output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "loop.h"
#include "shared/large.h"
#include "state/log.h"
#include "state/runs.h"

enum { READ_BYTES = 4096 };

/* Of what a unit writes in a window, as much is taken; then it has to wait, and PID 1 has time for others. */
enum { WINDOW_LINES = 1000, WINDOW_BYTES = 1 << 17 };

static void finish_line(unit_id id)
{
	struct run *run = &runs[id];

	if (run->line_size == 0)
		return;
	run->line[run->line_size] = '\0';
	log_line(id, runs_units()->unit[id].name, run->line);
	run->taken_lines++;
	/* Its beginning, to be shown should the unit fail. */
	run->line[run->line_size < sizeof run->last_line ? run->line_size : sizeof run->last_line - 1] = '\0';
	strcpy(run->last_line, run->line);
	run->line_size = 0;
}

/* The number of bytes, 0 at the end, -EAGAIN when there is nothing now. */
static ssize_t take(int fd, unit_id id)
{
	struct run *run = &runs[id];
	LARGE static char bytes[READ_BYTES];
	ssize_t got = read(fd, bytes, sizeof bytes);

	if (got < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	for (ssize_t i = 0; i < got; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c == '\n' || run->line_size == sizeof run->line - 1)
			finish_line(id);
		/* A log is text: nothing in it may play with the terminal that shows it. */
		if (c != '\n' && c != '\r')
			run->line[run->line_size++] = c == '\t' || (c >= ' ' && c != 0x7f) ? (char)c : '?';
	}
	return got;
}

void output_readable(int fd, unsigned id)
{
	struct run *run = &runs[id];
	ssize_t got = take(fd, (unit_id)id);

	if (got > 0) {
		runs_open_window((unit_id)id);
		run->taken_bytes += (uint32_t)got;
		if (run->taken_lines > WINDOW_LINES || run->taken_bytes > WINDOW_BYTES)
			loop_pause(fd);
	}
	if (got > 0 || got == -EAGAIN)
		return;
	finish_line((unit_id)id);
	loop_close(fd == run->helper_fd ? &run->helper_fd : &run->output_fd);
}

void output_drain(unit_id id)
{
	const int fds[] = { runs[id].helper_fd, runs[id].output_fd };

	/* As much as a pipe holds: what still writes must not keep PID 1 here. */
	for (size_t f = 0; f < sizeof fds / sizeof fds[0]; f++)
		for (int i = 0; i < 16 && fds[f] >= 0 && take(fds[f], id) > 0; i++)
			;
	finish_line(id);
}
