/* SPDX-License-Identifier: MIT */
/*
 * PID 1 of the example that is restored and not booted: an application that has to read its data before it can answer.
 *
 * A worker fills a table of 8 MiB, as a service reads its data. Where it is warm the clone agent runs: there the snapshot is
 * made, and every clone goes on from there. Then the first request is answered out of the table, with a session key that is drawn
 * now, and is another one in every clone. That answer is "ready".
 *
 * With `answers=FILE` among the kernel's words the answer is on the disk, too, before it is given: written and flushed. With
 * `agent=FILE` that program runs in the place of the clone agent, as bootlab-sleep of examples/persistence.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENTRIES = 1 << 20, ASKED = 123457 };

struct answer {
	uint64_t value;
	uint64_t session;
};

static uint64_t table[ENTRIES];

/* bootlab's mark (guest/README.md). */
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

__attribute__((noreturn)) static void fail(const char *what)
{
	printf("bootlab: check failed: %s: %s\n", what, strerror(errno));
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

/* What the table must hold at `index`, worked out without it. */
static uint64_t expected(uint64_t index)
{
	return index * index ^ index << 7;
}

__attribute__((noreturn)) static void serve(int fd)
{
	struct answer answer;
	uint64_t index;

	for (index = 0; index < ENTRIES; index++)
		table[index] = expected(index);
	if (write(fd, &index, sizeof index) != sizeof index)
		exit(1);
	while (read(fd, &index, sizeof index) == sizeof index) {
		answer.value = table[index % ENTRIES];
		if (getrandom(&answer.session, sizeof answer.session, 0) != sizeof answer.session ||
		    write(fd, &answer, sizeof answer) != sizeof answer)
			break;
	}
	exit(1);
}

static int start_worker(void)
{
	uint64_t filled;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		fail("socketpair");
	switch (fork()) {
	case -1:
		fail("fork");
	case 0:
		close(ends[0]);
		serve(ends[1]);
	default:
		close(ends[1]);
	}
	if (read(ends[0], &filled, sizeof filled) != sizeof filled || filled != ENTRIES)
		fail("the worker is not warm");
	return ends[0];
}

static void write_down(const char *path, const struct answer *answer)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, answer, sizeof *answer) != sizeof *answer || fsync(fd) || close(fd))
		fail(path);
}

static void run(const char *program)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		fail(program);
}

int main(void)
{
	const char *answers = getenv("answers"), *agent = getenv("agent");
	uint64_t index = ASKED;
	struct answer answer;
	int worker;

	setvbuf(stdout, NULL, _IOLBF, 0);
	mkdir("/proc", 0755);
	mkdir("/dev", 0755);
	if (mount("proc", "/proc", "proc", 0, NULL) || (mount("devtmpfs", "/dev", "devtmpfs", 0, NULL) && errno != EBUSY))
		fail("mount");
	/* It asks the kernel by its files. */
	if (agent && mount("sysfs", "/sys", "sysfs", 0, NULL))
		fail("/sys");
	worker = start_worker();
	run(agent ? agent : "/sbin/bootlab-clone");
	if (write(worker, &index, sizeof index) != sizeof index || read(worker, &answer, sizeof answer) != sizeof answer)
		fail("the worker does not answer");
	if (answers)
		write_down(answers, &answer);
	mark("ready");
	if (answer.value != expected(ASKED)) {
		errno = EBADMSG;
		fail("a wrong answer");
	}
	printf("bootlab: fact session %016llx\nbootlab: check ok\n", (unsigned long long)answer.session);
	for (;;)
		pause();
}
