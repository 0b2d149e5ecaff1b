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
#include "enable.h"

enum { EXIT_REFUSED = 1, EXIT_USAGE = 2, EXIT_NO_INIT = 3, ANSWER_BYTES = 65536, LINE_BYTES = 57 };

static const char USAGE[] =
	"usage: bootlab-ctl VERB [UNIT]\n"
	"  status [--json]     every unit: state, for how long, pid, what went wrong\n"
	"  why UNIT            why it is not up: what it waits for, and its last words\n"
	"  start|stop|restart [--wait] UNIT   (with what it needs; with what needs it)\n"
	"  reload [--wait] UNIT   have it read its configuration anew, as its file says\n"
	"  reload              read all unit files anew; what runs goes on, and is marked if its file says something else\n"
	"                      These ask, and return; with --wait when it is up, or down, or cannot be: then 1\n"
	"  chart               the boot, a line a unit: waiting, starting, ready; ms since PID 1 began\n"
	"  log [UNIT]          what happened, and what units wrote, as far as it is kept; of one unit\n"
	"  account [--console] the boot as data (docs/init.md): on standard output, or in lines on the console\n"
	"  names               every unit there is\n"
	"  enable|disable [--root=DIR] UNIT   start it at boot, or not: a file below /etc/bootlab/units, also of an image at DIR\n"
	"  poweroff|reboot|halt\n"
	"  completion          a script for bash: eval \"$(bootlab-ctl completion)\"\n"
	"exit status: 0 done, 1 refused, 2 wrong use, 3 bootlab-init does not answer\n";

static const char COMPLETION[] =
	"_bootlab_ctl() {\n"
	"  local word=${COMP_WORDS[COMP_CWORD]} words=\n"
	"  case $COMP_CWORD:${COMP_WORDS[1]} in\n"
	"    1:*) words='status why start stop restart reload enable disable chart log account names poweroff reboot halt completion' ;;\n"
	"    *:status) words=--json ;;\n"
	"    *:account) words=--console ;;\n"
	"    *:why | *:log | *:enable | *:disable) words=$(bootlab-ctl names 2>/dev/null) ;;\n"
	"    *:start | *:stop | *:restart | *:reload) words=\"--wait $(bootlab-ctl names 2>/dev/null)\" ;;\n"
	"  esac\n"
	"  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
	"}\n"
	"complete -F _bootlab_ctl bootlab-ctl\n";

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

/* What stands behind the verb. */
struct words {
	const char *unit, *option;
	bool too_many;
};

static struct words words_behind(int argc, char **argv)
{
	struct words words = { .unit = "", .option = "" };

	for (int i = 2; i < argc; i++) {
		const char **place = !strncmp(argv[i], "--", 2) ? &words.option : &words.unit;

		words.too_many |= **place != '\0';
		*place = argv[i];
	}
	return words;
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(word, *words))
			return true;
	return false;
}

/* Into `request` what PID 1 is asked; false when the words do not fit together. */
static bool make_request(const char *verb, const struct words *words, char *request)
{
	static const char *const WAITING[] = { "start", "stop", "restart", "reload", NULL };
	static const char *const OF_A_UNIT[] = { "start", "stop", "restart", "why", NULL };
	bool waits = !strcmp(words->option, "--wait") && is_one_of(verb, WAITING);
	bool json = !strcmp(words->option, "--json") && !strcmp(verb, "status");
	bool console = !strcmp(words->option, "--console") && !strcmp(verb, "account");

	if (words->too_many || (*words->option && !waits && !json && !console) || strpbrk(words->unit, " \t\n") ||
	    (!*words->unit && is_one_of(verb, OF_A_UNIT)))
		return false;
	return snprintf(request, REQUEST_BYTES_MAX, "%s%s %s%s\n", verb, json ? "-json" : "", words->unit, waits ? " wait" : "") <
	       REQUEST_BYTES_MAX;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";
	struct words words = words_behind(argc, argv);
	char request[REQUEST_BYTES_MAX];
	int fd, size;

	if (argc == 2 && (!strcmp(verb, "--help") || !strcmp(verb, "-h")))
		return fputs(USAGE, stdout) < 0;
	if (argc == 2 && !strcmp(verb, "completion"))
		return fputs(COMPLETION, stdout) < 0;
	if (!words.too_many && *words.unit && (!strcmp(verb, "enable") || !strcmp(verb, "disable")) &&
	    (!*words.option || !strncmp(words.option, "--root=", strlen("--root="))))
		return enable_unit(*words.option ? words.option + strlen("--root=") : "", words.unit, !strcmp(verb, "enable")) ? EXIT_REFUSED : 0;
	if (argc < 2 || verb[0] == '-' || !make_request(verb, &words, request)) {
		fputs(USAGE, stderr);
		return EXIT_USAGE;
	}
	size = (int)strlen(request);
	/* Who has the answer already may have closed. */
	signal(SIGPIPE, SIG_IGN);
	fd = connect_to_init();
	if (fd < 0)
		return fail(CONTROL_PATH);
	if (write(fd, request, (size_t)size) != size && errno != EPIPE)
		return fail(CONTROL_PATH);
	return *words.option && !strcmp(verb, "account") ? to_console(fd) : to_output(fd);
}
