/* SPDX-License-Identifier: MIT */
/*
 * What comes from outside while PID 1 runs, and nobody meant to send: readiness messages with descriptors passed along, requests
 * of bootlab-ctl. The sanitizers watch; no descriptor may be left open, and no unit be in a state that there is none of.
 */
#include <fcntl.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "dice.h"
#include "process/ready.h"
#include "shared/clock.h"
#include "state/account.h"
#include "supervision/lifecycle.h"
#include "supervision/supervise.h"
#include "units/graph.h"
#include "units/unit_file.h"
/* Its requests come through descriptors, so that no socket of this machine is needed. */
#include "control.c"

enum { MESSAGES = 60000, REQUESTS = 30000, MESSAGE_BYTES = 512, MOST_PASSED = 8, FDS = 64, REPORTS_EVERY = 100 };

static const char *const NOTIFICATIONS[] = {
	"READY=1\nSTATUS=a b\n", "MAINPID=4\nREADY=1", "STATUS=\033[1m\n\nERRNO=2\nWATCHDOG=1", "EXTEND_TIMEOUT_USEC=1000000",
	"BARRIER=1", "FDSTORE=1\nFDNAME=x", "MAINPID=99999999999999999999\nMAINPID=\nREADY=", "STOPPING=1\nRELOADING=1\n",
};
static const char *const ASKED[] = {
	"start alone\n", "stop alone\n", "restart daemon\n", "start daemon\n", "start nobody\n", "why daemon\n", "status\n",
	"chart", "log \n", "account --console\n", "poweroff please\n", "\n\n",
};

static size_t damage(const char *seed, char *text)
{
	size_t size = strlen(seed);

	memcpy(text, seed, size);
	for (unsigned i = below(4); i > 0 && size > 0; i--) {
		size_t at = below((unsigned)size), length = 1 + below(8);

		length = length > size - at ? size - at : length;
		switch (below(3)) {
		case 0:
			text[at] = (char)below(256);
			break;
		case 1:
			memmove(text + at, text + at + length, size - at - length);
			size -= length;
			break;
		default:
			if (size + length <= MESSAGE_BYTES) {
				memmove(text + at + length, text + at, size - at);
				size += length;
			}
		}
	}
	return size;
}

static unsigned open_descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < FDS; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void send_notification(int fd, const struct sockaddr_un *to, socklen_t to_size, const char *text, size_t size, int passed)
{
	char control[CMSG_SPACE(MOST_PASSED * sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec from = { (char *)text, size };
	struct msghdr message = { .msg_name = (void *)to, .msg_namelen = to_size, .msg_iov = &from, .msg_iovlen = 1 };
	struct cmsghdr *part;

	if (passed > 0) {
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE((size_t)passed * sizeof(int));
		part = CMSG_FIRSTHDR(&message);
		part->cmsg_level = SOL_SOCKET;
		part->cmsg_type = SCM_RIGHTS;
		part->cmsg_len = CMSG_LEN((size_t)passed * sizeof(int));
		for (int i = 0; i < passed; i++)
			((int *)(void *)CMSG_DATA(part))[i] = STDERR_FILENO;
	}
	CHECK(sendmsg(fd, &message, 0) == (ssize_t)size);
}

static void ignored(int fd, unsigned id)
{
	(void)fd;
	(void)id;
}

static void test_notifications(unit_id id)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	char text[MESSAGE_BYTES];
	unsigned before, ready = 0;

	CHECK(fd >= 0 && ready_open_notify(id, ignored) == 0);
	strcpy(to.sun_path + 1, runs[id].notify_name);
	before = open_descriptors();
	for (int i = 0; i < MESSAGES; i++) {
		size_t size = damage(NOTIFICATIONS[below(sizeof NOTIFICATIONS / sizeof NOTIFICATIONS[0])], text);
		socklen_t to_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(runs[id].notify_name));

		runs[id].state = STATE_STARTING;
		runs[id].phase = PHASE_START;
		runs_set_deadline(id, clock_awake_ns() + NS_PER_S);
		runs_set_main(id, getpid());
		runs[id].next_main = 0;
		send_notification(fd, &to, to_size, text, size, (int)below(3) ? 0 : (int)below(MOST_PASSED + 1));
		lifecycle_notified(id);
		CHECK(runs[id].state == STATE_STARTING || runs[id].state == STATE_UP);
		CHECK(runs[id].main == getpid());
		for (const char *c = runs[id].last_line; *c; c++)
			CHECK((unsigned char)*c >= ' ' && *c != 0x7f);
		ready += runs[id].state == STATE_UP;
	}
	CHECK(open_descriptors() == before);
	/* Enough came through to have been understood. */
	CHECK(ready > MESSAGES / 20);
	loop_close(&runs[id].notify_fd);
	close(fd);
	runs[id].state = STATE_OFF;
	runs_set_main(id, 0);
}

static void test_requests(void)
{
	unsigned before = open_descriptors(), answered = 0;
	char text[MESSAGE_BYTES], answer_text[MESSAGE_BYTES];

	for (int i = 0; i < REQUESTS; i++) {
		/* Reports are forks, which take their time here. */
		unsigned n = sizeof ASKED / sizeof ASKED[0], which = below(i % REPORTS_EVERY ? 5 : n);
		unsigned place = below(MAX_CONNECTIONS);
		size_t size = damage(ASKED[which], text);
		int ends[2];

		CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
		CHECK(size == 0 || write(ends[0], text, size) == (ssize_t)size);
		connections[place] = ends[1];
		connection_readable(ends[1], place);
		CHECK(connections[place] == -1);
		answered += recv(ends[0], answer_text, sizeof answer_text, MSG_DONTWAIT) > 0;
		close(ends[0]);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		for (size_t j = 0; j < units.n_units; j++)
			CHECK(runs[j].state <= STATE_BLOCKED && runs[j].pid <= 0 && runs[j].main <= 0);
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	CHECK(open_descriptors() == before);
	CHECK(answered > REQUESTS / 2);
}

static struct unit *own(const char *name, const char *text)
{
	return unit_file_parse(&units, slice_of(name), name, text, strlen(text));
}

int main(void)
{
	struct config config;

	begin();
	account_begin(clock_now_ns());
	config_init(&config);
	own("alone", "exec /bin/a\nready exit\n");
	own("daemon", "exec /bin/b\nready notify\nneeds alone\n");
	graph_resolve(&units, &(struct graph_options){ .goals = NULL });
	supervise_init(&units, &config);
	for (size_t i = 0; i < MAX_CONNECTIONS; i++)
		connections[i] = -1;
	test_notifications(units_find(&units, slice_of("daemon")));
	test_requests();
	puts("test_messages: ok");
	return 0;
}
