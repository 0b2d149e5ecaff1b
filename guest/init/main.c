/* SPDX-License-Identifier: MIT */
/* bootlab-init: PID 1. docs/init.md says what it does and how it is told. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control.h"
#include "crash.h"
#include "process/limits.h"
#include "process/loop.h"
#include "process/spawn.h"
#include "reload.h"
#include "shared/clock.h"
#include "shared/files.h"
#include "shared/large.h"
#include "shared/own.h"
#include "shutdown.h"
#include "state/account.h"
#include "state/log.h"
#include "supervision/exits.h"
#include "supervision/goal.h"
#include "supervision/pressure.h"
#include "supervision/supervise.h"
#include "units/config.h"
#include "watchdog.h"

enum { EXIT_NOT_PID_1 = 100, PAGE_BYTES = 4096 };

LARGE static struct config config;
static int console_fd = -1;
static pid_t shell = -1;

/* Asked for on the kernel's command line: somebody wants to look after the machine before its units are started. */
static enum { BOOT, RESCUE, EMERGENCY } rescue = BOOT;

/* Whatever the kernel left open; nothing PID 1 opens may become a standard stream by accident. */
static void open_standard_streams(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0 && mkdir("/dev", 0755) == 0)
			return;
}

static void open_console(bool contained)
{
	if (console_fd >= 0)
		return;
	if (contained) {
		console_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
		if (console_fd >= 0)
			fcntl(console_fd, F_SETFL, fcntl(console_fd, F_GETFL) | O_NONBLOCK);
	} else {
		console_fd = open("/dev/console", O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	}
	log_init(console_fd, config.quiet);
	crash_init(console_fd, contained);
}

static unsigned count_processors(void)
{
	union {
		cpu_set_t set;
		unsigned long words[sizeof(cpu_set_t) / sizeof(unsigned long)];
	} processors;
	unsigned n = 0;

	if (sched_getaffinity(0, sizeof processors.set, &processors.set))
		return 1;
	/* CPU_COUNT of musl asks of each of a thousand. */
	for (size_t i = 0; i < sizeof processors.words / sizeof processors.words[0]; i++)
		n += (unsigned)__builtin_popcountl(processors.words[i]);
	return n;
}

/* Words of the kernel's command line that it does not know itself are arguments of process 1. */
static void read_arguments(char *const *words)
{
	static const char *const SINGLE[] = { "single", "rescue", "s", "S", "1" };

	for (; *words; words++) {
		for (size_t i = 0; i < sizeof SINGLE / sizeof SINGLE[0]; i++)
			if (!strcmp(*words, SINGLE[i]) && rescue == BOOT)
				rescue = RESCUE;
		if (!strcmp(*words, "emergency") || !strcmp(*words, "-b"))
			rescue = EMERGENCY;
	}
}

/* It asks for root's password. A shell that asks nobody is opened only where init.conf names it. */
static const char *emergency_program(void)
{
	static const char *const SULOGIN[] = { "/sbin/sulogin", "/usr/sbin/sulogin" };

	for (size_t i = 0; !config.emergency && i < sizeof SULOGIN / sizeof SULOGIN[0]; i++)
		if (file_exists(SULOGIN[i]))
			config.emergency = SULOGIN[i];
	return config.emergency;
}

static void open_shell(void)
{
	const char *program = emergency_program();

	if (program)
		shell = spawn_shell(program);
	if (!program)
		log_say(LOG_FAILURE, "no emergency shell: there is no /sbin/sulogin, and init.conf has no line `emergency PROGRAM`");
	else if (shell < 0)
		log_say(LOG_FAILURE, "no emergency shell: %s: %s", program, strerror(-shell));
}

static void go_on_with_boot(void)
{
	rescue = BOOT;
	log_say(LOG_FAILURE, "going on with the boot");
	supervise_boot();
}

/* The shell, once what it needs is there; without one the boot goes on: then true. */
static bool answer_rescue(void)
{
	if (rescue == BOOT || shell > 0 || shutdown_has_begun() || !supervise_rescue_is_there())
		return false;
	log_say(LOG_FAILURE, "%s: no unit is started before the shell on the console has ended",
		rescue == EMERGENCY ? "emergency" : "single");
	open_shell();
	if (shell > 0)
		return false;
	go_on_with_boot();
	return true;
}

static void reap(void)
{
	siginfo_t info;

	for (;;) {
		struct rusage used;
		int status;
		pid_t pid;

		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == 0)
			return;
		/* While it is a zombie its number, and its group's, is nobody else's. */
		exits_zombie(info.si_pid);
		pid = wait4(info.si_pid, &status, WNOHANG, &used);
		if (pid <= 0)
			return;
		if (pid == shell) {
			shell = -1;
			if (rescue != BOOT && !shutdown_has_begun())
				go_on_with_boot();
			else
				log_say(LOG_NOTE, "the emergency shell has ended; going on as far as possible");
		}
		shutdown_reaped(pid, status);
		reload_reaped(pid, status);
		exits_reaped(pid, status, &used);
	}
}

static void answer_signals(void)
{
	if (loop_signal(SIGINT))
		shutdown_begin(END_REBOOT); /* Ctrl-Alt-Del */
	if (loop_signal(SIGTERM))
		shutdown_begin(END_REBOOT); /* as busybox's init */
	if (loop_signal(SIGUSR1))
		shutdown_begin(END_HALT);
	if (loop_signal(SIGUSR2) || loop_signal(SIGPWR))
		shutdown_begin(END_POWER_OFF);
	if (loop_signal(SIGHUP))
		control_open();
	loop_signal(SIGWINCH);
	loop_signal(SIGCHLD);
}

static void answer_failure(void)
{
	if (!goal_take_failure() || shutdown_has_begun())
		return;
	if (config.on_failure == FAILURE_REBOOT)
		shutdown_begin(END_REBOOT);
	if (config.on_failure == FAILURE_SHELL)
		open_shell();
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

__attribute__((noreturn))
static void run(bool contained)
{
	bool control = false;
	unsigned console_ms;

	for (;;) {
		int64_t now_ns = clock_awake_ns(), next_ns;

		reap();
		answer_signals();
		supervise_schedule(now_ns);
		/* After what was started just now: its deadline may be the next. */
		next_ns = supervise_timers(now_ns);
		if (next_ns <= now_ns)
			continue;
		/* /dev and /run may only be there now. */
		open_console(contained);
		if (!control)
			control = control_open() == 0;
		answer_failure();
		if (answer_rescue())
			continue;
		next_ns = earlier(next_ns, watchdog_step(config.watchdog, config.watchdog_ns, now_ns));
		next_ns = earlier(next_ns, shutdown_step(now_ns));
		next_ns = earlier(next_ns, control_step(now_ns));
		console_ms = log_flush();
		if (console_ms > 0)
			next_ns = earlier(next_ns, now_ns + (int64_t)console_ms * NS_PER_MS);
		loop_wait(next_ns);
	}
}

/* With its frames from the beginning of a page on: after each fork PID 1 copies the pages that it writes to, one in the place of two. */
__attribute__((noreturn))
static void run_on_a_page(bool contained)
{
	void *gap = __builtin_alloca((uintptr_t)__builtin_frame_address(0) % PAGE_BYTES);

	/* Or the compiler would leave out what nothing reads. */
	__asm__ volatile("" : : "r"(gap) : "memory");
	run(contained);
}

int main(int argc, char **argv)
{
	const char *container = getenv("container");
	bool contained = container && *container, owns_machine;
	struct units *units;

	if (getpid() != 1) {
		static const char SAID[] =
			"bootlab-init: this is not process 1: it is started by the kernel (init=/sbin/bootlab-init), or by\n"
			"  unshare --pid --fork\nTo look at a system's units without it: bootlab init check DIR\n";

		if (write(STDERR_FILENO, SAID, sizeof SAID - 1) < 0)
			return EXIT_NOT_PID_1;
		return EXIT_NOT_PID_1;
	}
	account_begin(clock_now_ns());
	config_init(&config);
	open_standard_streams();
	loop_init(getenv("bootlab_poll") == NULL);
	open_console(contained);
	umask(022);
	/* In a PID namespace the kernel refuses this. */
	owns_machine = chdir("/") == 0 && !contained && reboot(RB_DISABLE_CAD) == 0;
	crash_config(&config);
	units = reload_first(&config);
	log_init(console_fd, config.quiet);
	limits_raise(MAX_FDS, owns_machine);
	shutdown_init(config.shutdown_timeout_ns, contained, owns_machine);
	places_init(count_processors(), config.starting);
	account_expect(units->n_units);
	own_keep();
	supervise_init(units, &config);
	if (argc > 1)
		read_arguments(argv + 1);
	if (config.on_crash == FAILURE_SHELL)
		emergency_program();
	if (rescue == BOOT)
		supervise_boot();
	else
		supervise_rescue(rescue == EMERGENCY);
	run_on_a_page(contained);
}
