/* SPDX-License-Identifier: MIT */
/*
 * PID 1 of a guest whose exits are counted twice: mounts, a child with some memory of its own, files that are read, a
 * line on the console. Then CPUID with a leaf that nothing else asks for, which any KVM stops for, and behind it
 * bootlab's mark: between the two is nothing that a count could see.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* traced_host names it, too. */
enum { LAST_LEAF = 0x4b000b07, CHILD_BYTES = 1 << 20 };

static void ready(void)
{
	static const char name[] = "ready";

	__asm__ volatile("cpuid\n\t"
			 "mov %[name], %%rdi\n\t"
			 "mov %[size], %%rsi\n\t"
			 "jmp 1f\n1:\n\t.byte 0x0f, 0x1f, 0x84, 0x00, 0xb0, 0x07, 0x1a, 0xb5"
			 : "+a"((int){ LAST_LEAF })
			 : [name] "r"(name), [size] "r"(sizeof(name) - 1)
			 : "rbx", "rcx", "rdx", "rsi", "rdi", "memory");
}

static void fail(const char *what)
{
	perror(what);
	reboot(RB_AUTOBOOT);
}

static void read_file(const char *path)
{
	static char bytes[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail(path);
	while (read(fd, bytes, sizeof(bytes)) > 0)
		;
	close(fd);
}

static void work_of_child(void)
{
	volatile char *memory = mmap(NULL, CHILD_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		_exit(1);
	for (size_t i = 0; i < CHILD_BYTES; i += 512)
		memory[i] = 1;
	read_file("/proc/self/maps");
	_exit(0);
}

int main(void)
{
	int status;
	pid_t child;

	mkdir("/proc", 0755);
	if (mount("proc", "/proc", "proc", 0, NULL))
		fail("mount /proc");
	for (int i = 0; i < 3; i++) {
		child = fork();
		if (child < 0)
			fail("fork");
		if (!child)
			work_of_child();
		if (waitpid(child, &status, 0) != child || status)
			fail("child");
	}
	read_file("/proc/cpuinfo");
	read_file("/proc/meminfo");
	printf("work done\n");
	fflush(stdout);
	/* What the console still has to say is said before the end, not by chance behind it. */
	fsync(1);
	ready();
	reboot(RB_AUTOBOOT);
	pause();
}
