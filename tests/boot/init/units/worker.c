/* SPDX-License-Identifier: MIT */
/* What a unit may do, well or badly; the first argument says which. */
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_SOCKET = 3, MAX_SOCKETS = 16, CHILDREN = 40, MESSAGES = 300, FLOOD_BYTES = 1 << 20 };

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

/* Two instructions a turn: on the virtual clock, a turn is 2 ns. */
static void work_ms(long ms)
{
	for (volatile long i = 0; i < ms; i++) {
		unsigned long turns = 500000;

#if defined(__x86_64__)
		__asm__ volatile("1:\n\tsub $1, %0\n\tjnz 1b" : "+r"(turns));
#else
		for (; turns > 0; turns--)
			__asm__ volatile("");
#endif
	}
}

static int send_message(const char *text, size_t size, int passed)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	char control[CMSG_SPACE(sizeof passed)] = { 0 };
	struct iovec from = { (char *)text, size };
	struct msghdr message = { .msg_name = &address, .msg_iov = &from, .msg_iovlen = 1 };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0), sent;

	if (!path || strlen(path) >= sizeof address.sun_path)
		return 111;
	memcpy(address.sun_path, path, strlen(path));
	message.msg_namelen = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	if (address.sun_path[0] == '@')
		address.sun_path[0] = '\0';
	if (passed >= 0) {
		struct cmsghdr *part;

		message.msg_control = control;
		message.msg_controllen = sizeof control;
		part = CMSG_FIRSTHDR(&message);
		part->cmsg_level = SOL_SOCKET;
		part->cmsg_type = SCM_RIGHTS;
		part->cmsg_len = CMSG_LEN(sizeof passed);
		memcpy(CMSG_DATA(part), &passed, sizeof passed);
	}
	sent = sendmsg(fd, &message, 0) >= 0;
	close(fd);
	return sent ? 0 : 111;
}

/* READY, then a barrier: what holds the other end sees it closed when all before it is done. */
static int barrier(void)
{
	char byte;
	int ends[2];

	if (pipe(ends) || send_message("READY=1\n", 8, -1) || send_message("BARRIER=1", 9, ends[1]))
		return 111;
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 0)
		return 112;
	puts("barrier passed");
	fflush(stdout);
	return 0;
}

static void garbage(void)
{
	unsigned char bytes[5000];
	unsigned state = 1;

	for (int i = 0; i < MESSAGES; i++) {
		for (size_t j = 0; j < sizeof bytes; j++)
			bytes[j] = (unsigned char)((state = state * 1103515245 + 12345) >> 16);
		send_message((char *)bytes, i % 2 ? sizeof bytes : (size_t)i, i % 3 ? 1 : -1);
	}
	send_message("MAINPID=1\nMAINPID=99999999999999999999\nREADY=\n=\n", 48, -1);
}

/* Of each of many messages as many lines as it holds name a process that is another's. */
static void claim_often(long pid)
{
	char text[4096];
	size_t used = 0;

	while (used + 32 < sizeof text)
		used += (size_t)snprintf(text + used, sizeof text - used, "MAINPID=%ld\n", pid);
	for (int i = 0; i < MESSAGES; i++)
		send_message(text, used, -1);
	send_message("READY=1", 7, -1);
}

static void flood(void)
{
	char bytes[4096];

	memset(bytes, '\033', sizeof bytes);
	for (int i = 0; i < FLOOD_BYTES; i += (int)sizeof bytes)
		if (write(1, bytes, sizeof bytes) < 0)
			return;
}

/* As a daemon of old: so many children live on when this one has ended, in sessions of their own if they `leave`. The pid of the
 * last is in a file. */
static int become_daemons(long n, const char *path, int leave)
{
	FILE *file = path ? fopen(path, "w") : NULL;

	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid == 0) {
			if (leave)
				setsid();
			for (;;)
				pause();
		}
		if (file && i == n - 1)
			fprintf(file, "%d\n", (int)pid);
	}
	return file && fclose(file);
}

/* As many requests to a disk, one after the other, past all caches. */
static int read_disk(const char *path, long requests)
{
	static _Alignas(4096) char block[4096];
	int fd = open(path, O_RDONLY | O_DIRECT);

	for (long i = 0; i < requests; i++)
		if (pread(fd, block, sizeof block, i * (long)sizeof block) != sizeof block)
			return 115;
	return 0;
}

/* Answers `clients` of any of its sockets with its pid and what it was handed, and ends. */
static int serve(long clients)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	struct pollfd sockets[MAX_SOCKETS];
	nfds_t n = count ? (nfds_t)atoi(count) : 0;

	if (!pid || atoi(pid) != getpid() || n == 0 || n > MAX_SOCKETS)
		return 113;
	for (nfds_t i = 0; i < n; i++)
		sockets[i] = (struct pollfd){ FIRST_SOCKET + (int)i, POLLIN, 0 };
	while (clients > 0 && poll(sockets, n, -1) > 0)
		for (nfds_t i = 0; i < n; i++)
			if (sockets[i].revents) {
				int fd = accept(sockets[i].fd, NULL, NULL);

				if (fd < 0 || dprintf(fd, "%d of %u\n", (int)getpid(), (unsigned)n) < 0)
					return 114;
				close(fd);
				clients--;
			}
	return clients > 0;
}

/* Says who it is to whom it has as a descriptor of its own, or as its standard output, and stays until that one has gone. */
static int greet(int status)
{
	const char *count = getenv("LISTEN_FDS"), *names = getenv("LISTEN_FDNAMES"), *who = getenv("REMOTE_ADDR");
	int fd = count ? FIRST_SOCKET : 1;
	char byte;

	if (count && (atoi(count) != 1 || !names || strcmp(names, "connection")))
		return 113;
	if (dprintf(fd, "%d hello%s%s\n", (int)getpid(), who ? " " : "", who ? who : "") < 0)
		return 114;
	fprintf(stderr, "greeted\n");
	while (read(count ? fd : 0, &byte, 1) > 0)
		;
	return status;
}

/* What who listens at a path says first. */
static int ask(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char text[256];
	ssize_t size;

	strncpy(address.sun_path, path, sizeof address.sun_path - 1);
	if (connect(fd, (struct sockaddr *)&address, sizeof address))
		return 1;
	size = read(fd, text, sizeof text);
	return size <= 0 || write(1, text, (size_t)size) != size;
}

/* The kernel counts a process's pages per CPU and in batches (Linux f1a7941243c1): small ones show as none at all. */
static int fill(size_t bytes)
{
	char *memory = malloc(bytes);

	if (!memory)
		return 1;
	memset(memory, 1, bytes);
	return memory[bytes / 2] != 1;
}

/* What it may do and use. */
static int confined(void)
{
	struct rlimit files;
	mode_t mask = umask(0);

	if (getrlimit(RLIMIT_NOFILE, &files))
		return 1;
	printf("uid %ld files %ld:%ld umask %03o nnp %d chown %d sys_admin %d ambient %d\n", (long)getuid(), (long)files.rlim_cur,
	       (long)files.rlim_max, (unsigned)mask, prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), prctl(PR_CAPBSET_READ, CAP_CHOWN, 0, 0, 0),
	       prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0), prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_CHOWN, 0, 0));
	return fflush(stdout);
}

/* Says which signals come, and ends by any but SIGHUP. */
static void hear(int number)
{
	if (dprintf(1, "signal %d\n", number) < 0 || number != SIGHUP)
		_exit(0);
}

extern char **environ;

static const char *told_path;

static void tell(int number)
{
	int fd = open(told_path, O_WRONLY | O_CREAT, 0644);

	_exit(fd < 0 ? 1 : number == SIGTERM ? 0 : 2);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long first = argc > 2 ? atol(argv[2]) : 0, second = argc > 3 ? atol(argv[3]) : 0;

	if (!strcmp(what, "work")) {
		sleep_ms(first);
		work_ms(second);
		return 0;
	}
	if (!strcmp(what, "pipe"))
		return puts(signal(SIGPIPE, SIG_DFL) == SIG_IGN ? "ignored" : "not ignored") < 0;
	if (!strcmp(what, "exit"))
		return (int)first;
	if (!strcmp(what, "fill"))
		return fill((size_t)first << 10);
	if (!strcmp(what, "read") && argc > 3)
		return read_disk(argv[2], second);
	/* As fsck is called; the name of the device says how it ends. */
	if (!strcmp(what, "-a") && argc > 2)
		return strstr(argv[2], "bad") ? 4 : 1;
	if (!strcmp(what, "serve"))
		return serve(first);
	if (!strcmp(what, "greet"))
		return greet((int)first);
	if (!strcmp(what, "ask") && argc > 2)
		return ask(argv[2]);
	if (!strcmp(what, "say"))
		return argc < 3 || puts(argv[2]) < 0;
	if (!strcmp(what, "daemon"))
		return become_daemons(first, argc > 3 ? argv[3] : NULL, 1);
	if (!strcmp(what, "lingers"))
		return become_daemons(first, NULL, 0);
	if (!strcmp(what, "deaf-daemon")) {
		signal(SIGTERM, SIG_IGN);
		return become_daemons(first, NULL, 1);
	}
	/* It runs on, and what it has started does, too, far away. */
	if (!strcmp(what, "parent"))
		become_daemons(first, argc > 3 ? argv[3] : NULL, 1);
	if (!strcmp(what, "environment"))
		for (char **variable = environ; *variable; variable++)
			puts(*variable);
	if (!strcmp(what, "limits"))
		printf("%ld %ld\n", (long)getuid(), (long)getgid());
	if (!strcmp(what, "environment") || !strcmp(what, "limits"))
		return fflush(stdout);
	if (!strcmp(what, "yes"))
		for (;;)
			if (write(1, "y\ny\ny\ny\ny\ny\ny\ny\n", 16) < 0)
				return 1;
	/* It makes a file when it is asked to end; or its child does, which it leaves behind. */
	if (!strcmp(what, "tells-daemon") && fork() > 0)
		return 0;
	if (!strncmp(what, "tells", 5) && argc > 2) {
		told_path = argv[2];
		signal(SIGTERM, tell);
	}
	if (!strcmp(what, "confined"))
		return confined();
	for (int number = 1; !strcmp(what, "hears") && number < 32; number++)
		/* PID 1 sends SIGCONT behind the one that counts. */
		if (number != SIGCONT)
			signal(number, hear);
	/* As `kill -HUP $MAINPID`. */
	if (!strcmp(what, "hup"))
		return kill(atoi(getenv("MAINPID") ? getenv("MAINPID") : "0"), SIGHUP) != 0;
	if (!strcmp(what, "deaf"))
		signal(SIGTERM, SIG_IGN);
	if (!strcmp(what, "children"))
		for (int i = 0; i < CHILDREN; i++)
			if (fork() == 0)
				break;
	if (!strcmp(what, "barrier") && barrier())
		return 1;
	if (!strcmp(what, "garbage"))
		garbage();
	if (!strcmp(what, "claim")) {
		char text[64];
		FILE *file = first ? NULL : fopen(argv[2], "r");
		int size;

		if (!first && (!file || fscanf(file, "%ld", &first) != 1))
			return 1;
		size = snprintf(text, sizeof text, "MAINPID=%ld\nREADY=1\n", first);

		if (send_message(text, (size_t)size, -1))
			return 1;
	}
	if (!strcmp(what, "claims"))
		claim_often(first);
	/* Is well so often, 100 ms apart; then it hangs, or says that it does. */
	if (!strcmp(what, "feeds")) {
		const char *pid = getenv("WATCHDOG_PID");

		if (!pid || atoi(pid) != getpid() || send_message("READY=1", 7, -1))
			return 1;
		printf("every %s us\n", getenv("WATCHDOG_USEC"));
		fflush(stdout);
		for (long i = 0; i < first; i++) {
			sleep_ms(100);
			send_message("WATCHDOG=1", 10, -1);
		}
		if (second)
			send_message("WATCHDOG=trigger", 16, -1);
	}
	if (!strcmp(what, "flood"))
		flood();
	if (!strcmp(what, "fd") && write((int)first, "up\n", 3) != 3)
		return 1;
	if (!strcmp(what, "close"))
		close((int)first);
	for (;;)
		pause();
}
