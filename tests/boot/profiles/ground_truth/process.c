/* SPDX-License-Identifier: MIT */
/*
 * ground-truth ROUNDS SLEEP_MS: work, sleep and system calls of known size in a user process and in a child of it.
 *
 * Every stretch is bracketed by readings of the CPU's counter, which under QEMU's instruction-counting clock is virtual
 * time, so the guest itself says how long each really took. The lines are `ground truth: NAME BEGIN END`, in ns. No C
 * library, so that a profile shows these functions and nothing else.
 */
enum { STDOUT = 1, CLOCK_MONOTONIC = 1, PR_SET_TIMERSLACK = 29, SIGCHLD = 17, CALLS = 1000, CHILD_STATUS = 7 };

/* Exactly 2 instructions a round, and a return; each in a function of its own. */
void ground_truth_spin(unsigned long rounds);
void ground_truth_spin_in_child(unsigned long rounds);

#if defined(__x86_64__)

enum { SYS_write = 1, SYS_clone = 56, SYS_exit = 60, SYS_wait4 = 61, SYS_getppid = 110, SYS_prctl = 157, SYS_clock_nanosleep = 230 };

static long system_call(long number, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r8", "r9", "r11", "memory");
	return r;
}

/* The counter runs at 1 GHz under -icount, whatever the CPU model says. */
static unsigned long now_ns(void)
{
	unsigned int low, high;

	__asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (unsigned long)high << 32 | low;
}

#define SPIN(name) \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" \
		"1:\tdec %rdi\n\tjnz 1b\n\tret\n.size " #name ", . - " #name "\n")

__asm__(".globl _start\n_start:\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall start\n");

#elif defined(__aarch64__)

enum { SYS_write = 64, SYS_exit = 93, SYS_clock_nanosleep = 115, SYS_prctl = 167, SYS_getppid = 173, SYS_clone = 220, SYS_wait4 = 260 };

static long system_call(long number, long a, long b, long c, long d)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = 0;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
	return x0;
}

static unsigned long now_ns(void)
{
	unsigned long ticks, frequency;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tmrs %1, cntfrq_el0" : "=r"(ticks), "=r"(frequency) : : "memory");
	return ticks * (1000000000 / frequency);
}

#define SPIN(name) \
	__asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" \
		"1:\tsubs x0, x0, #1\n\tb.ne 1b\n\tret\n.size " #name ", . - " #name "\n")

__asm__(".globl _start\n_start:\n\tmov x0, sp\n\tmov x29, #0\n\tmov x30, #0\n\tb start\n");

#else
#error "ground-truth knows x86-64 and arm64"
#endif

SPIN(ground_truth_spin);
SPIN(ground_truth_spin_in_child);

struct timespec {
	long seconds, nanoseconds;
};

__attribute__((noreturn)) static void leave(int status)
{
	for (;;)
		system_call(SYS_exit, status, 0, 0, 0);
}

static char *put_number(char *end, unsigned long value)
{
	char digits[20];
	int n = 0;

	do
		digits[n++] = (char)('0' + value % 10);
	while (value /= 10);
	while (n)
		*end++ = digits[--n];
	return end;
}

static char *put_text(char *end, const char *text)
{
	while (*text)
		*end++ = *text++;
	return end;
}

static void say(const char *name, unsigned long begin, unsigned long end)
{
	char line[120], *at = put_text(put_text(line, "ground truth: "), name);

	*at++ = ' ';
	at = put_number(at, begin);
	*at++ = ' ';
	at = put_number(at, end);
	*at++ = '\n';
	system_call(SYS_write, STDOUT, (long)line, at - line, 0);
}

static unsigned long number(const char *text)
{
	unsigned long value = 0;

	while (*text >= '0' && *text <= '9')
		value = value * 10 + (unsigned long)(*text++ - '0');
	return value;
}

__attribute__((noinline)) static void ground_truth_sleep(unsigned long milliseconds)
{
	struct timespec time = { (long)(milliseconds / 1000), (long)(milliseconds % 1000 * 1000000) };

	system_call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&time, 0);
}

__attribute__((noinline)) static void ground_truth_calls(void)
{
	for (int i = 0; i < CALLS; i++)
		system_call(SYS_getppid, 0, 0, 0, 0);
}

__attribute__((noinline)) static int ground_truth_wait(long child)
{
	int status = 0;

	system_call(SYS_wait4, child, (long)&status, 0, 0);
	return status;
}

/* What the kernel leaves on the stack: argc, argv[0..argc-1], NULL, ... */
__attribute__((noreturn, used)) void start(char *const *stack)
{
	unsigned long rounds, sleep_ms, begin[4], end[4];
	long child;
	int status;

	if ((long)stack[0] != 3)
		leave(100);
	rounds = number(stack[2]);
	sleep_ms = number(stack[3]);
	/* A sleep of an ordinary process may be late by 50 us, to be woken together with others. */
	system_call(SYS_prctl, PR_SET_TIMERSLACK, 1, 0, 0);

	begin[0] = now_ns();
	ground_truth_spin(rounds);
	end[0] = now_ns();

	begin[1] = now_ns();
	ground_truth_sleep(sleep_ms);
	end[1] = now_ns();

	begin[2] = now_ns();
	ground_truth_calls();
	end[2] = now_ns();

	begin[3] = now_ns();
	child = system_call(SYS_clone, SIGCHLD, 0, 0, 0);
	if (child == 0) {
		ground_truth_spin_in_child(rounds);
		leave(CHILD_STATUS);
	}
	status = ground_truth_wait(child);
	end[3] = now_ns();

	say("process_spins", begin[0], end[0]);
	say("process_sleeps", begin[1], end[1]);
	say("process_calls", begin[2], end[2]);
	say("process_waits", begin[3], end[3]);
	leave(child > 0 && status == CHILD_STATUS << 8 ? 0 : 111);
}
