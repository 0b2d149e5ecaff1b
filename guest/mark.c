/* SPDX-License-Identifier: MIT */
/*
 * bootlab-mark NAME: tell whoever measures this boot that it has come this far.
 *
 * Two ways at once (README.md). First a NOP that no compiler emits, with the name in two argument registers: the QEMU
 * plugin sees it execute and stamps it exactly, and on any other machine it does nothing. Then a line on the console.
 * The NOP comes first, so that the mark does not pay for the console.
 *
 * No C library: two system calls and an exec of a few pages are all that a mark costs.
 */

#include "mark.h"

enum { NAME_MAX = MARK_NAME_MAX, EXIT_USAGE = 100, EXIT_WRITE = 111 };
enum { AT_FDCWD = -100, O_WRONLY = 1, O_NOCTTY = 0400, STDOUT = 1, STDERR = 2 };

static const char PREFIX[] = "bootlab: mark ";
static const char USAGE[] = "bootlab-mark: usage: bootlab-mark NAME (1 to 64 printable characters, no space)\n";
static const char NOT_WRITTEN[] = "bootlab-mark: write: neither /dev/console nor standard output takes it\n";

#if defined(__x86_64__)

enum { SYS_write = 1, SYS_exit = 60, SYS_openat = 257 };

static long system_call(long number, long a, long b, long c)
{
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "0"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return r;
}

__asm__(".globl _start\n_start:\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall start\n");

#elif defined(__aarch64__)

enum { SYS_openat = 56, SYS_write = 64, SYS_exit = 93 };

static long system_call(long number, long a, long b, long c)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
}

__asm__(".globl _start\n_start:\n\tmov x0, sp\n\tmov x29, #0\n\tmov x30, #0\n\tb start\n");

#elif defined(__arm__)

enum { SYS_exit = 1, SYS_write = 4, SYS_openat = 322 };

static long system_call(long number, long a, long b, long c)
{
	register long r7 __asm__("r7") = number;
	register long r0 __asm__("r0") = a;
	register long r1 __asm__("r1") = b;
	register long r2 __asm__("r2") = c;

	__asm__ volatile("svc #0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2) : "memory");
	return r0;
}

__asm__(".syntax unified\n.arm\n.globl _start\n.type _start, %function\n"
	"_start:\n\tmov r0, sp\n\tbic sp, sp, #7\n\tmov r11, #0\n\tmov lr, #0\n\tbl start\n");

#elif defined(__riscv) && __riscv_xlen == 64

enum { SYS_openat = 56, SYS_write = 64, SYS_exit = 93 };

static long system_call(long number, long a, long b, long c)
{
	register long a7 __asm__("a7") = number;
	register long a0 __asm__("a0") = a;
	register long a1 __asm__("a1") = b;
	register long a2 __asm__("a2") = c;

	__asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
	return a0;
}

__asm__(".globl _start\n_start:\n\tmv a0, sp\n\tli s0, 0\n\tli ra, 0\n\tj start\n");

#else
#error "bootlab-mark knows x86-64, arm64, armv7 and riscv64"
#endif

__attribute__((noreturn)) static void leave(int status)
{
	for (;;)
		system_call(SYS_exit, status, 0, 0);
}

/* The whole line in one write, so that nothing else on the console can come between its words. */
static int write_all(long fd, const char *text, long size)
{
	while (size > 0) {
		long written = system_call(SYS_write, fd, (long)text, size);

		if (written <= 0)
			return -1;
		text += written;
		size -= written;
	}
	return 0;
}

/* The size of a proper name, or 0. */
static long name_size(const char *name)
{
	long size = 0;

	for (; name[size]; size++)
		if (size == NAME_MAX || name[size] <= ' ' || name[size] > '~')
			return 0;
	return size;
}

/* What the kernel leaves on the stack: argc, argv[0..argc-1], NULL, ... */
__attribute__((noreturn, used)) void start(const long *stack)
{
	const char *name = stack[0] == 2 ? (const char *)stack[2] : "";
	long size = name_size(name), end = 0, console;
	char line[sizeof PREFIX + NAME_MAX];

	if (size == 0) {
		write_all(STDERR, USAGE, sizeof USAGE - 1);
		leave(EXIT_USAGE);
	}
	mark_announce(name, size);
	for (long i = 0; PREFIX[i]; i++)
		line[end++] = PREFIX[i];
	for (long i = 0; i < size; i++)
		line[end++] = name[i];
	line[end++] = '\n';
	console = system_call(SYS_openat, AT_FDCWD, (long)"/dev/console", O_WRONLY | O_NOCTTY);
	if ((console < 0 || write_all(console, line, end)) && write_all(STDOUT, line, end)) {
		write_all(STDERR, NOT_WRITTEN, sizeof NOT_WRITTEN - 1);
		leave(EXIT_WRITE);
	}
	leave(0);
}
