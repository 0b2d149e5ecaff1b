/* SPDX-License-Identifier: MIT */
/* Takes the whole system down in time: units, processes, file systems, the machine. */
#include "shutdown.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boot/early.h"
#include "boot/logins.h"
#include "process/loop.h"
#include "shared/clock.h"
#include "shared/files.h"
#include "shared/own.h"
#include "state/log.h"
#include "supervision/supervise.h"
#include "units/config.h"
#include "unmount.h"

/*
 * Shares of the whole time, in percent, behind SHUTDOWN_UNITS_PERCENT; what is left is for sync and unmount, which have SYNC_LEAST_S whatever the rest took.
 * RESCUE_MS: for the kernel's own emergency sync and remount, when even that was not enough.
 */
enum { TERM_PERCENT = 10, KILL_PERCENT = 5 };
enum { STEP_MOST_S = 2, KILL_LEAST_MS = 500, SYNC_LEAST_S = 3, RESCUE_MS = 500, LOOK_MS = 50 };
enum { IMPATIENT = 3, IMPATIENT_S = 2 };

enum step { STEP_UNITS, STEP_TERM, STEP_KILL, STEP_UNMOUNT, STEP_RESCUE, STEP_END };

static struct {
	bool begun, contained, owns_machine, hurried;
	enum ending ending;
	enum step step;
	unsigned n_asked;
	int64_t asked_ns[IMPATIENT]; /* the last times */
	int64_t timeout_ns, end_ns, step_end_ns;
	pid_t unmounting;
} state;

void shutdown_init(int64_t timeout_ns, bool contained, bool owns_machine)
{
	memset(&state, 0, sizeof state);
	state.timeout_ns = timeout_ns;
	state.contained = contained;
	state.owns_machine = owns_machine;
}

bool shutdown_has_begun(void)
{
	return state.begun;
}

__attribute__((noreturn))
static void end_machine(void)
{
	static const int COMMANDS[] = { RB_POWER_OFF, RB_AUTOBOOT, RB_HALT_SYSTEM };

	log_flush();
	if (!state.contained)
		reboot(COMMANDS[state.ending]);
	if (state.contained)
		_exit(0);
	/* Only without the right to: there is nothing more to be done, but PID 1 must not end. */
	for (;;)
		pause();
}

/* Somebody sits there and presses keys: asked so often within two seconds. */
static bool is_impatient(int64_t now_ns)
{
	state.asked_ns[state.n_asked++ % IMPATIENT] = now_ns;
	return state.n_asked >= IMPATIENT && now_ns - state.asked_ns[state.n_asked % IMPATIENT] <= IMPATIENT_S * NS_PER_S;
}

void shutdown_begin(enum ending ending)
{
	int64_t now_ns = clock_awake_ns();

	if (is_impatient(now_ns) && !state.hurried) {
		log_say(LOG_NOTE, "asked %d times in %d s: nothing is waited for but sync and unmount", IMPATIENT, IMPATIENT_S);
		state.hurried = true;
	}
	if (state.begun) {
		if (state.hurried && state.step <= STEP_TERM)
			state.step_end_ns = now_ns;
		return;
	}
	log_say(LOG_NOTE, "shutting down");
	state.begun = true;
	state.ending = ending;
	state.end_ns = now_ns + state.timeout_ns;
	state.step_end_ns = state.hurried ? now_ns : now_ns + state.timeout_ns / 100 * SHUTDOWN_UNITS_PERCENT;
	supervise_stop_all();
}

static bool has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static bool unmounting_is_done(void)
{
	return state.unmounting <= 0 || (kill(state.unmounting, 0) && errno == ESRCH);
}

/* What can be relied on once the machine is off. */
static void say_whether_written(bool is_written)
{
	if (is_written)
		log_say(LOG_NOTE, "all is written, and the root is read-only");
	else
		log_say(LOG_FAILURE, "the root could not be made read-only: it may have to be checked");
}

static void unmount_in_child(void)
{
	state.unmounting = own_fork();
	if (state.unmounting == 0) {
		setsid();
		loop_become_child();
		early_save_seed();
		logins_shutdown();
		_exit(!unmount_all());
	}
	/* No process to be had: then it is done here, and the watchdog has to watch. */
	if (state.unmounting < 0)
		say_whether_written(unmount_all());
}

void shutdown_reaped(pid_t pid, int status)
{
	if (pid == state.unmounting && state.begun)
		say_whether_written(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int64_t within(int64_t ns, int64_t least_ns, int64_t most_ns)
{
	return ns < least_ns ? least_ns : ns > most_ns ? most_ns : ns;
}

/* How long a step may take that begins now. */
static int64_t step_ns(int64_t now_ns)
{
	int64_t percent_ns = state.timeout_ns / 100, most_ns = STEP_MOST_S * NS_PER_S;

	switch (state.step) {
	case STEP_TERM:
		return state.hurried ? 0 : within(percent_ns * TERM_PERCENT, 0, most_ns);
	case STEP_KILL:
		return within(percent_ns * KILL_PERCENT, KILL_LEAST_MS * NS_PER_MS, most_ns);
	case STEP_UNMOUNT:
		return within(state.end_ns - now_ns, SYNC_LEAST_S * NS_PER_S, INT64_MAX / 4);
	default:
		return RESCUE_MS * NS_PER_MS;
	}
}

/* The kernel's own way, which does not wait for what hangs: its workers write and remount what they can. */
static void rescue(void)
{
	log_say(LOG_FAILURE, "sync and unmount did not end in time: the kernel is asked for an emergency sync and remount");
	if (state.owns_machine && (file_write("/proc/sysrq-trigger", "s") || file_write("/proc/sysrq-trigger", "u")))
		log_say(LOG_FAILURE, "/proc/sysrq-trigger: %s", strerror(errno));
}

static void next_step(int64_t now_ns)
{
	state.step++;
	state.step_end_ns = now_ns + step_ns(now_ns);
	switch (state.step) {
	case STEP_TERM:
		kill(-1, SIGTERM);
		kill(-1, SIGCONT);
		break;
	case STEP_KILL:
		kill(-1, SIGKILL);
		break;
	case STEP_UNMOUNT:
		if (!state.contained)
			unmount_in_child();
		break;
	case STEP_RESCUE:
		if (!unmounting_is_done())
			rescue();
		break;
	case STEP_END:
		end_machine();
	default:
		break;
	}
}

static bool step_is_done(void)
{
	switch (state.step) {
	case STEP_UNITS:
		return supervise_all_down();
	case STEP_TERM:
	case STEP_KILL:
		return !has_children();
	default:
		return unmounting_is_done();
	}
}

int64_t shutdown_step(int64_t now_ns)
{
	if (!state.begun)
		return INT64_MAX;
	while (step_is_done() || now_ns >= state.step_end_ns) {
		if (!step_is_done())
			log_say(LOG_NOTE, "step %d of shutting down took too long", (int)state.step + 1);
		next_step(now_ns);
	}
	return now_ns + LOOK_MS * NS_PER_MS < state.step_end_ns ? now_ns + LOOK_MS * NS_PER_MS : state.step_end_ns;
}
