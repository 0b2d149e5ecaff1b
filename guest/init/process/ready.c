/* SPDX-License-Identifier: MIT */
/* Hears when a unit's processes say that they are ready, in each of the ways there are. */
#include "ready.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "adoption.h"
#include "loop.h"
#include "shared/large.h"
#include "shared/print.h"
#include "state/log.h"
#include "state/runs.h"

enum { MESSAGE_BYTES = 4096, MAX_PASSED = 253, MESSAGES_AT_ONCE = 32, PID_BYTES = 32, MAX_PID = 4194304 };

/*
 * Of who may send, so many messages are taken in a window; one that is refused, or a piece of a line, counts as MESSAGE_REFUSED. A window
 * is opened when there are some: what a unit says now and then needs no timer.
 */
enum { WINDOW_MESSAGES = 1024, MESSAGES_FREE = 64, MESSAGE_REFUSED = 8 };


int ready_open_notify(unit_id id, loop_fn *readable)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t size = sizeof address;
	struct run *run = &runs[id];
	int on = 1, fd, r;

	if (run->notify_fd >= 0)
		return 0;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* An address of no length: the kernel takes a free one. */
	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) ||
	    bind(fd, (struct sockaddr *)&address, offsetof(struct sockaddr_un, sun_path)) ||
	    getsockname(fd, (struct sockaddr *)&address, &size)) {
		r = -errno;
		close(fd);
		return r;
	}
	size -= (socklen_t)offsetof(struct sockaddr_un, sun_path);
	if (size < 2 || size > sizeof run->notify_name) {
		close(fd);
		return -EPROTO;
	}
	memcpy(run->notify_name, address.sun_path + 1, size - 1);
	run->notify_name[size - 1] = '\0';
	r = loop_watch(fd, readable, id);
	if (r) {
		close(fd);
		return r;
	}
	run->notify_fd = fd;
	return 0;
}

static void refuse(unit_id id, const char *what, int pid, const char *why)
{
	if (pid > 0)
		log_say(LOG_FAILURE, "%s: %s: process %d %s: refused", runs_units()->unit[id].name, what, pid, why);
	else
		log_say(LOG_FAILURE, "%s: %s %s: refused", runs_units()->unit[id].name, what, why);
}

/* Once for each of its starts: it could be said again without end. */
static void refuse_main(unit_id id, pid_t pid, const char *why)
{
	if (!runs[id].main_refused)
		refuse(id, "MAINPID", pid, why);
	runs[id].main_refused = true;
	runs[id].messages += MESSAGE_REFUSED;
}

bool ready_adopt_announced(unit_id id)
{
	struct run *run = &runs[id];
	const char *why;
	enum adoption adoption = adoption_try(id, run->next_main, run->next_main_by, &why);

	if (adoption == ADOPTION_REFUSED)
		refuse_main(id, run->next_main, why);
	run->next_main = 0;
	return adoption == ADOPTION_DONE;
}

/* What becomes our child later is kept in mind until the main process has ended. */
static void announce(unit_id id, pid_t pid, uid_t by)
{
	const char *why;

	switch (adoption_try(id, pid, by, &why)) {
	case ADOPTION_LATER:
		runs[id].next_main = pid;
		runs[id].next_main_by = by;
		break;
	case ADOPTION_REFUSED:
		refuse_main(id, pid, why);
		break;
	default:
		break;
	}
}

/* Root, a process of the unit's session, or one with the same user as its main process. */
static bool may_notify(unit_id id, const struct ucred *from)
{
	struct stat status;
	char path[PID_BYTES];

	/* One of another PID namespace has no number here. */
	if (from->uid == 0 || (from->pid > 0 && (from->pid == runs[id].main ||
						 (runs[id].session > 0 && getsid(from->pid) == runs[id].session))))
		return true;
	print(path, sizeof path, "/proc/%d", (int)runs[id].main);
	return runs[id].main > 0 && stat(path, &status) == 0 && status.st_uid == from->uid;
}

/* Of several lines the last counts, as in systemd; and before anything else: to look at each costs a look at /proc or a cgroup. */
static void find_main(unit_id id, struct lines lines, uid_t by)
{
	int64_t pid = 0;
	struct slice line;

	while (line_next(&lines, &line))
		if (slice_starts(line, "MAINPID=") && parse_number(slice_from(line, strlen("MAINPID=")), 2, MAX_PID, &pid))
			pid = 0;
	if (pid > 0)
		announce(id, (pid_t)pid, by);
}

static void obey(unit_id id, struct slice line, ready_fn *ready)
{
	int64_t number;

	if (slice_is(line, "READY=1")) {
		ready(id);
	} else if (slice_starts(line, "EXTEND_TIMEOUT_USEC=") &&
		   !parse_number(slice_from(line, strlen("EXTEND_TIMEOUT_USEC=")), 1, INT64_C(1) << 40, &number)) {
		runs_extend(id, number * 1000);
	} else if (slice_is(line, "WATCHDOG=1")) {
		runs_feed_watchdog(id);
	} else if (slice_is(line, "WATCHDOG=trigger")) {
		runs_starve_watchdog(id);
	} else if (slice_starts(line, "WATCHDOG_USEC=") && runs[id].watchdog_ns > 0 &&
		   !parse_number(slice_from(line, strlen("WATCHDOG_USEC=")), 1, INT64_C(1) << 40, &number)) {
		runs_set_watchdog(id, number * 1000);
	} else if (slice_starts(line, "STATUS=")) {
		print(runs[id].last_line, sizeof runs[id].last_line, "%.*s",
		      (int)(line.size - 7 < 100 ? line.size - 7 : 100), line.at + 7);
		for (char *c = runs[id].last_line; *c; c++)
			if ((unsigned char)*c < ' ' || *c == 0x7f)
				*c = '?';
	}
	/* BARRIER=1 has come with a descriptor, which is closed when all before it is done: that is, now. */
}

static struct cmsghdr *next_part(struct msghdr *message, struct cmsghdr *part)
{
/* musl's macro compares a size with a difference. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
	return CMSG_NXTHDR(message, part);
#pragma GCC diagnostic pop
}

static bool find_sender(struct msghdr *message, struct ucred *ret)
{
	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = next_part(message, part))
		if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_CREDENTIALS &&
		    part->cmsg_len >= CMSG_LEN(sizeof *ret)) {
			memcpy(ret, CMSG_DATA(part), sizeof *ret);
			return true;
		}
	return false;
}

static void close_passed(struct msghdr *message)
{
	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = next_part(message, part)) {
		size_t n = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		for (size_t i = 0; part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS && i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
			close(fd);
		}
	}
}

/* False when no message waits. */
static bool take_message(unit_id id, ready_fn *ready)
{
	LARGE static char text[MESSAGE_BYTES];
	LARGE static char control[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(MAX_PASSED * sizeof(int))]
		__attribute__((aligned(8)));
	struct iovec into = { text, sizeof text };
	struct msghdr message = { .msg_iov = &into,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof control };
	ssize_t size = recvmsg(runs[id].notify_fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct ucred from;

	if (size < 0)
		return false;
	if (find_sender(&message, &from) && !(message.msg_flags & MSG_TRUNC) && may_notify(id, &from)) {
		struct lines lines = lines_of(text, (size_t)size);
		struct slice line;

		find_main(id, lines, from.uid);
		while (line_next(&lines, &line))
			obey(id, line, ready);
		runs[id].messages++;
	} else {
		runs[id].messages += MESSAGE_REFUSED;
	}
	/* After what the message says is done: a barrier is released by this. */
	close_passed(&message);
	return true;
}

static void slow_down(unit_id id, int fd)
{
	if (runs[id].messages > MESSAGES_FREE)
		runs_open_window(id);
	if (runs[id].messages > WINDOW_MESSAGES)
		loop_pause(fd);
}

void ready_drain_notify(unit_id id, ready_fn *ready)
{
	/* Who floods the socket gets a turn and no more, and is left to wait. */
	for (int i = 0; i < MESSAGES_AT_ONCE && runs[id].notify_fd >= 0 && take_message(id, ready); i++)
		;
	slow_down(id, runs[id].notify_fd);
}

enum ready_line ready_read_line(unit_id id)
{
	char bytes[256];
	ssize_t got = read(runs[id].ready_fd, bytes, sizeof bytes);

	if (got < 0)
		return LINE_AWAITED;
	if (got > 0 && !memchr(bytes, '\n', (size_t)got)) {
		runs[id].messages += MESSAGE_REFUSED;
		slow_down(id, runs[id].ready_fd);
		return LINE_AWAITED;
	}
	loop_close(&runs[id].ready_fd);
	return got > 0 ? LINE_WRITTEN : LINE_MISSING;
}

/* -ELOOP for a link, -EINVAL for what is no plain file; `*ret_by` is who could have written it. */
static ssize_t read_pidfile(const char *path, char *text, uid_t *ret_by)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	struct stat status;
	ssize_t size;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	/* Root's own, but by a name that somebody else has given it, or open to others: nobody's word. */
	*ret_by = status.st_uid == 0 && (status.st_nlink > 1 || (status.st_mode & (S_IWGRP | S_IWOTH))) ? (uid_t)-1 :
													    status.st_uid;
	size = read(fd, text, PID_BYTES);
	close(fd);
	return size;
}

static void refuse_pidfile(unit_id id, const char *path, pid_t pid, const char *why)
{
	if (!runs[id].pidfile_refused)
		refuse(id, path, pid, why);
	runs[id].pidfile_refused = true;
}

bool ready_look_at_pidfile(unit_id id)
{
	const char *path = runs_units()->unit[id].pidfile;
	char text[PID_BYTES];
	uid_t by = 0;
	ssize_t size = path ? read_pidfile(path, text, &by) : -ENOENT;
	struct slice rest = { text, size > 0 ? (size_t)size : 0 }, line;
	struct lines lines = lines_of(rest.at, rest.size);
	enum adoption adoption;
	const char *why;
	int64_t pid;

	if (size == -ELOOP || size == -EINVAL)
		refuse_pidfile(id, path, 0, "is no plain file, but a link or something else");
	if (!line_next(&lines, &line) || parse_number(slice_trim(line), 2, MAX_PID, &pid))
		return false;
	adoption = adoption_try(id, (pid_t)pid, by, &why);
	/* It may be one of the last life, and be written anew. */
	if (adoption == ADOPTION_REFUSED)
		refuse_pidfile(id, path, (pid_t)pid, why);
	return adoption == ADOPTION_DONE;
}
