/* SPDX-License-Identifier: MIT */
/* Takes the requests of bootlab-ctl on PID 1's socket, and answers them. */
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "process/child.h"
#include "process/loop.h"
#include "reload.h"
#include "report.h"
#include "shared/clock.h"
#include "shared/large.h"
#include "shared/own.h"
#include "shared/print.h"
#include "shared/text.h"
#include "shutdown.h"
#include "state/log.h"
#include "state/runs.h"
#include "supervision/supervise.h"

enum { BACKLOG = 4096, MAX_CONNECTIONS = 64, MAX_WAITING = 32, PATIENCE_S = 10, SILENT_S = 2, LOOK_MS = 100, ANSWER_BYTES = 256 };

static int listening = -1;
LARGE static int connections[MAX_CONNECTIONS];
LARGE static int64_t connected_ns[MAX_CONNECTIONS];
static bool is_full;

/* Connections whose answer waits for a unit. */
LARGE static struct {
	bool is_there, is_reload;
	unit_id id;
	enum state wanted;
} awaited[MAX_CONNECTIONS];
static unsigned n_awaited;

/*
 * Requests that stay in the kernel's queue until unit files have been read: the one that they are read for, in place `reader`, and what came
 * meanwhile about names that the files alone know. That one finds them read the next time.
 */
LARGE static bool held[MAX_CONNECTIONS], has_read[MAX_CONNECTIONS];
static bool reader_reloads;
static int reader = -1;

static void answer(int fd, const char *text)
{
	if (send(fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return; /* who asked has gone */
}

static const char *why_refused(int r)
{
	switch (r) {
	case -ENOENT:
		return "no such unit; bootlab-ctl status lists them";
	case -ENOTCONN:
		return "it is not up, so there is nothing to reload";
	case -EALREADY:
		return "it is being reloaded already";
	case -EOPNOTSUPP:
		return "its file has no line reload or reload-signal";
	case -ESHUTDOWN:
		return "the machine is going down";
	case -EIO:
		return "files could not be read, see bootlab-ctl log; nothing has changed";
	case -ETIMEDOUT:
		return "files could not be read in time: their disk hangs; nothing has changed";
	case -ENOSPC:
		return "there is no room for what the files say now, besides what runs; nothing has changed";
	default:
		return strerror(-r);
	}
}

/* It is dealt with. Who closes with something unread would be taken for one that has broken down. */
static void take_request(int fd)
{
	char request[REQUEST_BYTES_MAX];

	if (recv(fd, request, sizeof request, MSG_DONTWAIT) < 0)
		return; /* it has gone, or there was none */
}

/* Whether the request is to be looked at again once all files have been read; -errno when they cannot be. */
static int read_files_first(unsigned place, struct slice verb, struct slice name)
{
	bool is_reload = slice_is(verb, "reload") && name.size == 0, is_instance = memchr(name.at, '@', name.size);
	/* An instance of a template that nothing has named so far is looked for when it is asked for. */
	bool begins = is_reload || (slice_is(verb, "start") && units_find(runs_units(), name) == NO_UNIT);

	if (has_read[place] || (!is_reload && !is_instance) || (reader < 0 && !begins))
		return 0;
	if (reader < 0) {
		int r = reload_begin(name);

		if (r)
			return r;
		reader = (int)place;
		reader_reloads = is_reload;
	}
	held[place] = true;
	loop_pause(connections[place]);
	return 1;
}

/* The answer to this one comes later (control_step). False when it is to have it now. */
static bool await_unit(unsigned place, struct slice name, struct slice verb)
{
	if (n_awaited == MAX_WAITING) {
		answer(connections[place], "error: it is asked for, but too many wait for units already; look with bootlab-ctl status\n");
		return false;
	}
	n_awaited++;
	awaited[place].is_there = true;
	awaited[place].is_reload = slice_is(verb, "reload");
	awaited[place].id = units_find(runs_units(), name);
	awaited[place].wanted = slice_is(verb, "stop") ? STATE_OFF : STATE_UP;
	return true;
}

static void forget(unsigned place)
{
	if (awaited[place].is_there)
		n_awaited--;
	awaited[place].is_there = held[place] = has_read[place] = false;
	loop_close(&connections[place]);
}

static bool is_settled(const struct run *run)
{
	switch (run->state) {
	case STATE_WAITING:
	case STATE_ELIGIBLE:
	case STATE_STARTING:
	case STATE_STOPPING:
		return false;
	default:
		return !run->stop_wanted && !run->start_wanted && !run->wait_wanted && run->phase != PHASE_RELOAD;
	}
}

/* Tell those who wait for a unit what has become of it. */
static void answer_waiting(void)
{
	for (unsigned i = 0; i < MAX_CONNECTIONS; i++) {
		const struct run *run = &runs[awaited[i].id];
		char text[ANSWER_BYTES] = "ok\n";

		if (!awaited[i].is_there || !is_settled(run))
			continue;
		if (run->state != awaited[i].wanted)
			print(text, sizeof text, "error: %s is %s%s%s\n", runs_units()->unit[awaited[i].id].name,
			      runs_state_name(run->state), *run->why ? ": " : "", run->why);
		else if (awaited[i].is_reload && run->reload_failed)
			print(text, sizeof text, "error: %s: its reload command failed; it runs on as it was\n",
			      runs_units()->unit[awaited[i].id].name);
		answer(connections[i], text);
		/* A fork that writes a report may still have it. */
		shutdown(connections[i], SHUT_RDWR);
		forget(i);
	}
}

/* Files have been read, or could not be: all is looked at again. */
static void stop_holding(int r, const char *said)
{
	char text[ANSWER_BYTES];

	if (r)
		print(text, sizeof text, "error: %s\n", why_refused(r));
	for (unsigned i = 0; i < MAX_CONNECTIONS; i++) {
		if (!held[i])
			continue;
		held[i] = false;
		connected_ns[i] = clock_awake_ns();
		loop_resume(connections[i]);
		has_read[i] = (int)i == reader;
		if (!has_read[i] || (!r && !reader_reloads))
			continue;
		take_request(connections[i]);
		answer(connections[i], r ? text : said);
		forget(i);
	}
	reader = -1;
}

/* True when the answer comes later. */
static bool act(unsigned place, struct slice verb, struct slice name, bool waits)
{
	int fd = connections[place];
	static const struct {
		const char *verb;
		int (*act)(struct slice name);
	} ACTIONS[] = { { "start", supervise_start }, { "stop", supervise_stop }, { "restart", supervise_restart }, { "reload", supervise_reload } };
	static const struct {
		const char *verb;
		enum ending ending;
	} ENDINGS[] = { { "poweroff", END_POWER_OFF }, { "reboot", END_REBOOT }, { "halt", END_HALT } };
	char text[ANSWER_BYTES];

	for (size_t i = 0; i < sizeof ACTIONS / sizeof ACTIONS[0]; i++)
		if (slice_is(verb, ACTIONS[i].verb)) {
			int r = ACTIONS[i].act(name);

			if (!r && waits)
				return await_unit(place, name, verb);
			print(text, sizeof text, r ? "error: %.*s: %s\n" : "ok\n", (int)name.size, name.at,
			      why_refused(r));
			answer(fd, text);
			return false;
		}
	for (size_t i = 0; i < sizeof ENDINGS / sizeof ENDINGS[0]; i++)
		if (slice_is(verb, ENDINGS[i].verb)) {
			answer(fd, "ok\n");
			shutdown_begin(ENDINGS[i].ending);
			return false;
		}
	print(text, sizeof text, "error: %.*s: no such verb\n", (int)verb.size, verb.at);
	answer(fd, text);
	return false;
}

static void report(int fd, report_fn *write_report, struct slice name)
{
	struct timeval patience = { .tv_sec = PATIENCE_S };
	pid_t pid = own_fork();

	if (pid < 0)
		answer(fd, "error: no process to be had for the report; try again\n");
	if (pid != 0)
		return;
	loop_become_child();
	/* Who has had another answer meanwhile is to see its end, and who writes to a pipe that nobody reads any more is to be told. */
	child_close_others(&fd, 1);
	/* PID 1 never waits for a reader; here a slow one is waited for. */
	fcntl(fd, F_SETFL, 0);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	_exit(write_report(fd, name) ? 1 : 0);
}

static void connection_readable(int fd, unsigned place)
{
	char request[REQUEST_BYTES_MAX], text[ANSWER_BYTES];
	ssize_t size = awaited[place].is_there ? 0 : recv(fd, request, sizeof request, MSG_DONTWAIT | MSG_PEEK);
	struct slice rest = { request, size > 0 ? (size_t)size : 0 }, verb, name, option, line;
	struct lines lines = lines_of(rest.at, rest.size);
	report_fn *write_report;
	bool later = false;
	int r;

	/* A request is one small message: what does not come whole is none. */
	if (line_next(&lines, &line) && word_next(&line, &verb)) {
		word_next(&line, &name);
		r = read_files_first(place, verb, name);
		if (r > 0)
			return;
		take_request(fd);
		write_report = report_find(verb);
		if (r < 0) {
			print(text, sizeof text, "error: %s\n", why_refused(r));
			answer(fd, text);
		} else if (write_report) {
			report(fd, write_report, name);
		} else {
			later = act(place, verb, name, word_next(&line, &option) && slice_is(option, "wait"));
		}
	}
	/* Who waits and says more, or has gone, is not answered any more. */
	if (!later)
		forget(place);
}

/* Of those that have asked nothing for so long there is one less; false when all places are taken. */
static bool find_place(unsigned *ret)
{
	int64_t now_ns = clock_awake_ns();

	for (unsigned i = 0; i < MAX_CONNECTIONS; i++) {
		if (connections[i] >= 0 && !awaited[i].is_there && !held[i] && now_ns - connected_ns[i] > SILENT_S * NS_PER_S)
			forget(i);
		if (connections[i] >= 0)
			continue;
		*ret = i;
		return true;
	}
	return false;
}

static void connected(int fd, unsigned argument)
{
	unsigned place;
	int connection;

	(void)argument;
	/* Whoever comes now waits in the kernel's queue. */
	if (!find_place(&place)) {
		loop_pause(fd);
		is_full = true;
		return;
	}
	connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (connection < 0)
		return;
	if (loop_watch(connection, connection_readable, place)) {
		close(connection);
		return;
	}
	connections[place] = connection;
	connected_ns[place] = clock_awake_ns();
}

int64_t control_step(int64_t now_ns)
{
	int64_t until_ns = INT64_MAX;
	char said[ANSWER_BYTES] = "";
	unsigned place;
	int r;

	if (reader >= 0 && (r = reload_end(now_ns, &until_ns, said, sizeof said)) != -EINPROGRESS) {
		stop_holding(r, said);
		return now_ns;
	}
	if (n_awaited > 0)
		answer_waiting();
	if (!is_full)
		return until_ns;
	if (!find_place(&place))
		return now_ns + LOOK_MS * NS_PER_MS;
	is_full = false;
	loop_resume(listening);
	return until_ns;
}

int control_open(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = CONTROL_PATH };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), r;
	mode_t mask;

	if (fd < 0)
		return -errno;
	if (listening < 0)
		for (size_t i = 0; i < MAX_CONNECTIONS; i++)
			connections[i] = -1;
	unlink(CONTROL_PATH);
	mask = umask(077);
	r = bind(fd, (struct sockaddr *)&address, sizeof address);
	if (r && errno == ENOENT && mkdir("/run/bootlab", 0755) == 0)
		r = bind(fd, (struct sockaddr *)&address, sizeof address);
	r = r || listen(fd, BACKLOG) ? -errno : 0;
	umask(mask);
	r = r ? r : loop_watch(fd, connected, 0);
	if (r) {
		close(fd);
		return r;
	}
	loop_close(&listening);
	listening = fd;
	return 0;
}
