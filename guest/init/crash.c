/* SPDX-License-Identifier: MIT */
/* Keeps PID 1 alive when a fault hits it, and does what init.conf wants done then. */
#include "crash.h"

#include <signal.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/spawn.h"
#include "shared/large.h"
#include "shared/print.h"

enum { STACK_BYTES = 32768, SYNC_SECONDS = 5, SHELL_AGAIN_SECONDS = 1 };

static int console = -1;
static bool contained, has_crashed;
static const struct config *config;
LARGE static char stack[STACK_BYTES] __attribute__((aligned(16)));

static void say(const char *text)
{
	size_t left = strlen(text);

	/* A console that is full gets some time, and then no more. */
	for (int i = 0; i < 50 && left > 0; i++) {
		ssize_t written = write(console, text, left);

		if (written > 0) {
			text += written;
			left -= (size_t)written;
		} else {
			nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
		}
	}
}

__attribute__((noreturn))
static void restart_machine(void)
{
	pid_t child = fork();

	if (child == 0) {
		sync();
		_exit(0);
	}
	for (int i = 0; child > 0 && i < SYNC_SECONDS * 100 && waitpid(child, NULL, WNOHANG) == 0; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	if (contained)
		_exit(1);
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

/* What is left of an init: zombies are reaped, and reboot can be asked for. */
__attribute__((noreturn))
static void hold(pid_t shell)
{
	sigset_t all;

	sigfillset(&all);
	for (;;) {
		int number = sigtimedwait(&all, NULL, &(struct timespec){ .tv_sec = 1 });
		pid_t gone;

		while ((gone = waitpid(-1, NULL, WNOHANG)) > 0)
			if (gone == shell) {
				nanosleep(&(struct timespec){ .tv_sec = SHELL_AGAIN_SECONDS }, NULL);
				shell = spawn_shell(config->emergency);
			}
		if (number == SIGINT || number == SIGTERM || number == SIGUSR1 || number == SIGUSR2)
			restart_machine();
	}
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	static const char *const THEN[] = { "units run on, nobody watches them; SIGINT reboots", "a shell is opened",
					    "rebooting" };
	enum on_failure then = config ? config->on_crash : FAILURE_HOLD;
	char text[160];
	sigset_t all;

	(void)context;
	/* Sent by some process: PID 1 is not harmed by that. */
	if (info->si_code <= 0)
		return;
	/* Of a child that has not executed its program yet: it alone ends, by the same fault again. */
	if (getpid() != 1) {
		signal(number, SIG_DFL);
		return;
	}
	if (has_crashed)
		restart_machine();
	has_crashed = true;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	print(text, sizeof text, "\ninit: PID 1 has crashed: signal %d at address %p: %s\n", number, info->si_addr,
	      THEN[then]);
	say(text);
	if (then == FAILURE_REBOOT)
		restart_machine();
	hold(then == FAILURE_SHELL && config->emergency ? spawn_shell(config->emergency) : -1);
}

void crash_init(int console_fd, bool is_contained)
{
	static const int FAULTS[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
	stack_t alternative = { .ss_sp = stack, .ss_size = sizeof stack };

	console = console_fd;
	contained = is_contained;
	sigaltstack(&alternative, NULL);
	for (size_t i = 0; i < sizeof FAULTS / sizeof FAULTS[0]; i++)
		sigaction(FAULTS[i], &action, NULL);
}

void crash_config(const struct config *given)
{
	config = given;
}
