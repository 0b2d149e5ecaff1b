/* SPDX-License-Identifier: MIT */
/* A daemon without work: it says that it is ready in the way that its first argument names, and stays. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { EXIT_USAGE = 100, EXIT_FAILED = 111 };

/* sd_notify(3), without a library. */
static int notify(const char *message)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	size_t size = path ? strlen(path) : 0;

	if (fd < 0 || size == 0 || size >= sizeof address.sun_path)
		return EXIT_FAILED;
	memcpy(address.sun_path, path, size);
	if (address.sun_path[0] == '@')
		address.sun_path[0] = '\0';
	return sendto(fd, message, strlen(message), 0, (struct sockaddr *)&address,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size)) < 0 ? EXIT_FAILED : 0;
}

static int write_pid(const char *path)
{
	FILE *file = fopen(path, "w");

	return !file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file) ? EXIT_FAILED : 0;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	int failed = 0;

	if (!strcmp(way, "once"))
		return 0;
	if (!strcmp(way, "say") && argc == 3)
		return puts(argv[2]) < 0 ? EXIT_FAILED : 0;
	if (!strcmp(way, "notify")) {
		failed = notify("READY=1\nSTATUS=serving\n");
	} else if (!strcmp(way, "pidfile") && argc == 3) {
		failed = write_pid(argv[2]);
	} else if (!strcmp(way, "fork") && argc == 3) {
		pid_t child = fork();

		if (child != 0)
			return child < 0 ? EXIT_FAILED : 0;
		setsid();
		failed = write_pid(argv[2]);
	} else if (strcmp(way, "stay")) {
		fputs("daemon: usage: daemon once|say WORDS|notify|stay|pidfile FILE|fork FILE\n", stderr);
		return EXIT_USAGE;
	}
	while (!failed)
		pause();
	return failed;
}
