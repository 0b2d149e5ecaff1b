/* SPDX-License-Identifier: MIT */
/*
 * The application of the embedded example: it is ready when it runs, and proves it by serving one page to the host,
 * over the address that the kernel was given on its command line (ip=).
 *
 * It is PID 1 after exec from the init script, or instead of it, and asks nothing of /proc or /sys.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PORT = 80 };

/* bootlab's mark (guest/README.md): an instruction that does nothing, stamped exactly, then a line for other clocks. */
static void mark(const char *name)
{
	long size = (long)strlen(name);
#if defined(__x86_64__)
	__asm__ volatile("jmp 1f\n1:\n\t.byte 0x0f, 0x1f, 0x84, 0x00, 0xb0, 0x07, 0x1a, 0xb5" : : "D"(name), "S"(size) : "memory");
#elif defined(__aarch64__)
	register const char *x0 __asm__("x0") = name;
	register long x1 __asm__("x1") = size;
	__asm__ volatile("b 1f\n1:\n\t.inst 0xd2a160ff" : : "r"(x0), "r"(x1) : "memory");
#endif
	printf("bootlab: mark %s\n", name);
}

__attribute__((noreturn)) static void stop(void)
{
	sync();
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

__attribute__((noreturn)) static void fail(const char *what)
{
	printf("bootlab: check failed: %s: %s\n", what, strerror(errno));
	stop();
}

/* Facts are for bootlab's proofs, and read /proc and /sys where the kernel has them. */
static void print_facts(void)
{
	int status;
	pid_t child;

	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	child = fork();
	if (child == 0) {
		execl("/sbin/bootlab-facts", "bootlab-facts", (char *)NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
}

static void serve(void)
{
	static const char head[] = "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n";
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	struct utsname kernel;
	char request[256];
	int client, listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	FILE *page;

	if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0 ||
	    bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(listener, 1) < 0)
		fail("listen");
	puts("bootlab: check ok");
	client = accept(listener, NULL, NULL);
	if (client < 0 || read(client, request, sizeof(request)) < 0)
		fail("accept");
	uname(&kernel);
	page = fdopen(client, "w");
	if (page == NULL || fprintf(page, "%scamera on Linux %s\n", head, kernel.release) < 0 || fflush(page) != 0)
		fail("answer");
	shutdown(client, SHUT_WR);
	/* The host has it all when it closes its side. */
	while (read(client, request, sizeof(request)) > 0)
		;
	fclose(page);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	mark("ready");
	print_facts();
	serve();
	stop();
}
