/* SPDX-License-Identifier: MIT */
/* bootlab-ctl: ask bootlab-init. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control.h"

enum { EXIT_REFUSED = 1, EXIT_USAGE = 2, EXIT_NO_INIT = 3, ANSWER_BYTES = 65536, LINE_BYTES = 57 };

static const char USAGE[] =
	"usage: bootlab-ctl VERB [UNIT]\n"
	"  status              every unit: state, for how long, pid, what went wrong\n"
	"  why UNIT            why it is not up: what it waits for, and its last words\n"
	"  start|stop|restart UNIT   (with what it needs; with what needs it); asks, and does not wait\n"
	"  reload UNIT         have it read its configuration anew, as its file says\n"
	"  chart               the boot, a line a unit: waiting, starting, ready; ms since PID 1 began\n"
	"  log [UNIT]          what happened, and what units wrote, as far as it is kept; of one unit\n"
	"  account [--console] the boot as data (docs/init.md): on standard output, or in lines on the console\n"
	"  poweroff|reboot|halt\n"
	"exit status: 0 done, 1 refused, 2 wrong use, 3 bootlab-init does not answer\n";

static int fail(const char *what)
{
	fprintf(stderr, "bootlab-ctl: %s: %s\n", what, strerror(errno));
	return EXIT_NO_INIT;
}

static int connect_to_init(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = CONTROL_PATH };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address)) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

static size_t read_full(int fd, unsigned char *bytes, size_t size)
{
	size_t got = 0;
	ssize_t r;

	while (got < size && (r = read(fd, bytes + got, size - got)) > 0)
		got += (size_t)r;
	return got;
}

/* A line of base64 at a time, each in one write, so that nothing comes between. */
static int to_console(int fd)
{
	static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	static const char END[] = "bootlab: account end\n";
	int console = open("/dev/console", O_WRONLY | O_NOCTTY | O_CLOEXEC);
	unsigned char bytes[LINE_BYTES];
	size_t size;

	if (console < 0)
		return fail("/dev/console");
	while ((size = read_full(fd, bytes, sizeof bytes)) > 0) {
		char line[128] = "bootlab: account ";
		size_t used = strlen(line);

		for (size_t i = 0; i < size; i += 3) {
			unsigned group = (unsigned)bytes[i] << 16 | (i + 1 < size ? (unsigned)bytes[i + 1] << 8 : 0) |
					 (i + 2 < size ? bytes[i + 2] : 0u);

			line[used++] = DIGITS[group >> 18];
			line[used++] = DIGITS[group >> 12 & 63];
			line[used++] = i + 1 < size ? DIGITS[group >> 6 & 63] : '=';
			line[used++] = i + 2 < size ? DIGITS[group & 63] : '=';
		}
		line[used++] = '\n';
		if (write(console, line, used) != (ssize_t)used)
			return fail("/dev/console");
	}
	if (write(console, END, sizeof END - 1) < 0)
		return fail("/dev/console");
	return 0;
}

static int to_output(int fd)
{
	static char bytes[ANSWER_BYTES];
	bool refused = false, first = true;
	ssize_t got;

	while ((got = read(fd, bytes, sizeof bytes)) > 0) {
		refused |= first && got > 6 && !memcmp(bytes, "error:", 6);
		first = false;
		for (ssize_t at = 0, written; at < got; at += written) {
			written = write(refused ? STDERR_FILENO : STDOUT_FILENO, bytes + at, (size_t)(got - at));
			if (written < 0)
				return fail("standard output");
		}
	}
	if (got < 0 || first)
		return fail("bootlab-init gave no answer");
	return refused ? EXIT_REFUSED : 0;
}

int main(int argc, char **argv)
{
	bool console = argc == 3 && !strcmp(argv[1], "account") && !strcmp(argv[2], "--console");
	char request[REQUEST_BYTES_MAX];
	int fd, size;

	if (argc < 2 || argc > 3 || argv[1][0] == '-') {
		fputs(USAGE, argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) ? stdout : stderr);
		return argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) ? 0 : EXIT_USAGE;
	}
	size = snprintf(request, sizeof request, "%s %s\n", argv[1], argc == 3 && !console ? argv[2] : "");
	if (size >= (int)sizeof request) {
		fputs("bootlab-ctl: that is no unit's name: it is too long\n", stderr);
		return EXIT_USAGE;
	}
	/* Who has the answer already may have closed. */
	signal(SIGPIPE, SIG_IGN);
	fd = connect_to_init();
	if (fd < 0)
		return fail(CONTROL_PATH);
	if (write(fd, request, (size_t)size) != size && errno != EPIPE)
		return fail(CONTROL_PATH);
	return console ? to_console(fd) : to_output(fd);
}
