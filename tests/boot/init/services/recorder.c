/*
 * Says how it was started, in the place of every program that services name; started as "first" it is what hears that.
 *
 * "first" is what the kernel executes: it leaves a process behind that listens at /records/socket, and becomes the
 * process 1 that the word `comparing` of the kernel's command line names. The process numbers what it hears, writes it
 * to the second serial line and answers what the program is to do (/records/behaviour). Once nobody has been started
 * for a while it has process 1 say what became of its units, and switches the machine off.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { RECORD_BYTES = 1 << 18, ANSWER_BYTES = 512, MAX_UNITS = 600, QUIET_S = 25, LONGEST_S = 420 };

static const char PLACE[] = "/records/socket";

/* ---- what is started in the place of a program ---- */

static char record[RECORD_BYTES];
static size_t used;

static void put(const char *key, const char *value, size_t size)
{
	static const char DIGITS[] = "0123456789abcdef";

	if (used + strlen(key) + 4 * size + 3 > sizeof record)
		return;
	used += (size_t)sprintf(record + used, "%s ", key);
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)value[i];

		if (c > ' ' - 1 && c < 127 && c != '\\') {
			record[used++] = (char)c;
			continue;
		}
		record[used++] = '\\';
		record[used++] = 'x';
		record[used++] = DIGITS[c >> 4];
		record[used++] = DIGITS[c & 15];
	}
	record[used++] = '\n';
}

static void put_text(const char *key, const char *value)
{
	put(key, value, strlen(value));
}

static void put_file(const char *key, const char *path)
{
	static char text[1 << 14];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return;
	text[n] = '\0';
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		put_text(key, line);
}

static void put_descriptors(void)
{
	for (int fd = 0; fd < 64; fd++) {
		char path[64], target[256];
		ssize_t n;

		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		n = readlink(path, target, sizeof target - 1);
		if (n <= 0)
			continue;
		target[n] = '\0';
		for (char *c = target; *c; c++)
			if (*c == '[' || *c == ':') {
				*c = '\0'; /* the number of a pipe or a socket says nothing */
				break;
			}
		snprintf(path, sizeof path, "fd %d", fd);
		put_text(path, target);
	}
}

static void describe(char **argv, char **environment)
{
	char text[4096];

	for (; *argv; argv++)
		put_text("arg", *argv);
	for (; *environment; environment++)
		put_text("env", *environment);
	put_text("cwd", getcwd(text, sizeof text) ? text : strerror(errno));
	put_file("cgroup", "/proc/self/cgroup");
	put_file("status", "/proc/self/status");
	put_file("limit", "/proc/self/limits");
	put_file("oom", "/proc/self/oom_score_adj");
	snprintf(text, sizeof text, "%d", getpriority(PRIO_PROCESS, 0));
	put_text("nice", text);
	snprintf(text, sizeof text, "%ld", syscall(SYS_ioprio_get, 1, 0));
	put_text("ioprio", text);
	snprintf(text, sizeof text, "%ld", syscall(SYS_sched_getscheduler, 0));
	put_text("scheduler", text);
	put_text("session", getsid(0) == getpid() ? "own" : "another's");
	put_descriptors();
}

static void notify(const char *text)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (!path || strlen(path) >= sizeof address.sun_path)
		return;
	memcpy(address.sun_path, path, strlen(path));
	if (address.sun_path[0] == '@')
		address.sun_path[0] = '\0';
	if (sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&address,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path))) < 0)
		_exit(111);
}

static int reach(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, PLACE);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address))
		return -1;
	return fd;
}

static int act(char **argv, char **environment)
{
	char answer[ANSWER_BYTES];
	int fd = reach();
	ssize_t n = 0;

	if (fd < 0)
		return 112;
	describe(argv, environment);
	record[used++] = '\n';
	for (size_t at = 0; at < used; at += (size_t)n) {
		n = send(fd, record + at, used - at, MSG_NOSIGNAL);
		if (n <= 0)
			return 113;
	}
	n = read(fd, answer, sizeof answer - 1);
	close(fd);
	if (n <= 0)
		return 114;
	answer[n] = '\0';
	if (!strncmp(answer, "fork:", 5)) {
		pid_t child = fork();
		FILE *file;

		if (child == 0)
			for (;;)
				pause();
		if (strrchr(answer, '/') > answer + 5) {
			char folder[ANSWER_BYTES];

			snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(answer, '/') - answer - 5), answer + 5);
			mkdir(folder, 0755);
		}
		file = answer[5] ? fopen(answer + 5, "w") : NULL;
		if (file) {
			fprintf(file, "%d\n", child);
			fclose(file);
		}
		return 0;
	}
	if (!strcmp(answer, "notify"))
		notify("READY=1\n");
	while (strcmp(answer, "exit") != 0)
		pause();
	return 0;
}

/* ---- what hears it ---- */

static struct told {
	char name[128];
	char *programs; /* " PROGRAM=WHAT..." in their order; those that were told have lost their first letter */
} told[MAX_UNITS];
static size_t n_told;
static int line;
static int number;

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void write_all(const char *text, size_t size)
{
	for (ssize_t n; size > 0; text += n, size -= (size_t)n) {
		n = write(line, text, size);
		if (n < 0 && errno != EINTR)
			return;
		n = n < 0 ? 0 : n;
	}
}

__attribute__((format(printf, 1, 2)))
static void say(const char *format, ...)
{
	char text[512];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof text, format, values);
	va_end(values);
	write_all(text, strlen(text));
}

static void read_behaviour(void)
{
	static char text[1 << 17];
	int fd = open("/records/behaviour", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof text - 1);
	char *rest = text;

	text[n > 0 ? n : 0] = '\0';
	for (char *row; n_told < MAX_UNITS && (row = strsep(&rest, "\n")) && *row;) {
		char *name = strsep(&row, " ");

		snprintf(told[n_told].name, sizeof told->name, "%s", name);
		told[n_told++].programs = row ? row : "";
	}
	close(fd);
}

/* The last part of the cgroup's path, without what stands behind its last dot. */
static void unit_of(const char *text, char *ret, size_t room)
{
	const char *found = strstr(text, "\ncgroup 0::"), *slash = found;
	size_t size;

	*ret = '\0';
	if (!found)
		return;
	size = strcspn(++found, "\n");
	for (const char *c = found; c < found + size; c++)
		if (*c == '/')
			slash = c + 1;
	size -= (size_t)(slash - found);
	if (size > 8 && !memcmp(slash + size - 8, ".service", 8))
		size -= 8;
	if (size > 5 && !memcmp(slash + size - 5, ".unit", 5))
		size -= 5;
	snprintf(ret, room, "%.*s", (int)size, slash);
}

/* Of the first of this name that was not told yet. */
static const char *what_to_do(const char *unit, const char *program)
{
	static char answer[ANSWER_BYTES];
	size_t size = strlen(program);

	for (size_t i = 0; i < n_told; i++)
		for (char *c = told[i].programs; !strcmp(told[i].name, unit) && *c; c += strcspn(c, " ") + (strchr(c, ' ') != NULL))
			if (!strncmp(c, program, size) && c[size] == '=') {
				snprintf(answer, sizeof answer, "%.*s", (int)strcspn(c + size + 1, " "), c + size + 1);
				c[0] = '!';
				return answer;
			}
	return "exit";
}

static void hear(int fd, bool ends)
{
	static char text[RECORD_BYTES];
	char unit[128], program[512];
	const char *answer;
	size_t size = 0;

	while (size < sizeof text - 1) {
		ssize_t n = read(fd, text + size, sizeof text - 1 - size);

		if (n <= 0)
			break;
		size += (size_t)n;
		if (size >= 2 && !memcmp(text + size - 2, "\n\n", 2))
			break;
	}
	text[size] = '\0';
	unit_of(text, unit, sizeof unit);
	snprintf(program, sizeof program, "%.*s", (int)strcspn(text + 4, "\n"), text + 4); /* behind "arg " */
	answer = ends ? "exit" : what_to_do(unit, program);
	say("begin %d %s %s %s\n", number++, ends ? "stop" : "start", unit, answer);
	write_all(text, size);
	if (write(fd, answer, strlen(answer)) < 0)
		say("unheard\n");
}

/* The output of one of process 1's own programs, between two lines. */
static void have_told(const char *title, char *const argv[])
{
	pid_t child;

	say("states %s\n", title);
	child = fork();
	if (child == 0) {
		dup2(line, 1);
		dup2(line, 2);
		execv(argv[0], argv);
		_exit(127);
	}
	waitpid(child, NULL, 0);
	say("\nstates end\n");
}

static void collect(int fd, bool is_systemd)
{
	double heard = seconds(), began = heard;
	bool ends = false;

	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	for (;;) {
		struct pollfd one = { .fd = fd, .events = POLLIN };

		if (poll(&one, 1, 1000) > 0) {
			int connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
			struct timeval longest = { .tv_sec = 5 };

			setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
			hear(connection, ends);
			close(connection);
			heard = seconds();
		}
		if (ends || (seconds() - heard < QUIET_S && seconds() - began < LONGEST_S))
			continue;
		ends = true;
		if (is_systemd)
			have_told("systemd", (char *[]){ "/records/systemctl", "list-units", "--all", "--plain", "--no-pager",
						       "--no-legend", "--full", "--type=service", NULL });
		if (is_systemd)
			have_told("jobs", (char *[]){ "/records/systemctl", "list-jobs", "--no-pager", "--after", "--full", NULL });
		else
			have_told("bootlab-init", (char *[]){ "/records/bootlab-ctl", "status", "--json", NULL });
		/* How it goes down is asked elsewhere, and systemd may take minutes of a busy processor for it. */
		tcdrain(line);
		reboot(RB_POWER_OFF);
	}
}

static int be_first(void)
{
	const char *which = getenv("comparing");
	bool is_systemd = which && !strcmp(which, "systemd");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	/* In namespaces, which a guest is tried out in, these are there. */
	if (!getenv("container")) {
		mount("devtmpfs", "/dev", "devtmpfs", 0, "mode=0755");
		mount("proc", "/proc", "proc", 0, "");
	} else {
		umount2("/old", MNT_DETACH);
	}
	mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755");
	mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777");
	line = open("/dev/ttyS1", O_RDWR | O_NOCTTY | O_CLOEXEC | O_APPEND);
	strcpy(address.sun_path, PLACE);
	umask(0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 1024))
		return 1;
	read_behaviour();
	if (fork() == 0) {
		setsid();
		collect(fd, is_systemd);
	}
	umask(022);
	unsetenv("comparing");
	if (is_systemd)
		execl("/lib/systemd/systemd", "/lib/systemd/systemd", NULL);
	else
		execl("/sbin/bootlab-init", "/sbin/bootlab-init", NULL);
	return 1;
}

int main(int argc, char **argv, char **environment)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;

	if (getpid() == 1 && slash && !strcmp(slash, "/first"))
		return be_first();
	return act(argv, environment);
}
