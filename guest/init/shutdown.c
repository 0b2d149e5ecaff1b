/* SPDX-License-Identifier: MIT */
#include "shutdown.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boot/early.h"
#include "process/loop.h"
#include "shared/clock.h"
#include "state/log.h"
#include "supervision/supervise.h"
#include "unmount.h"

/* Of the whole time, units may take so much; the last steps have seconds of their own within the rest. */
enum { UNITS_PERCENT = 70, STEP_S = 2, LOOK_MS = 50, IMPATIENT = 3 };

enum step { STEP_UNITS, STEP_TERM, STEP_KILL, STEP_UNMOUNT, STEP_END };

static struct {
	bool begun, contained;
	enum ending ending;
	enum step step;
	unsigned asked;
	int64_t timeout_ns, end_ns, step_end_ns;
	pid_t unmounting;
} state;

void shutdown_init(int64_t timeout_ns, bool contained)
{
	state.timeout_ns = timeout_ns;
	state.contained = contained;
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

void shutdown_begin(enum ending ending)
{
	int64_t now_ns = clock_now_ns();

	state.asked++;
	if (state.begun) {
		if (state.asked >= IMPATIENT)
			state.end_ns = now_ns;
		return;
	}
	log_say(LOG_NOTE, "shutting down");
	state.begun = true;
	state.ending = ending;
	state.end_ns = now_ns + state.timeout_ns;
	state.step_end_ns = now_ns + state.timeout_ns / 100 * UNITS_PERCENT;
	supervise_stop_all();
}

static bool has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static void unmount_in_child(void)
{
	state.unmounting = fork();
	if (state.unmounting == 0) {
		setsid();
		loop_become_child();
		early_save_seed();
		unmount_all();
		_exit(0);
	}
	/* No process to be had: then it is done here, and the watchdog has to watch. */
	if (state.unmounting < 0)
		unmount_all();
}

static void next_step(int64_t now_ns)
{
	int64_t left_ns = state.end_ns - now_ns;

	state.step++;
	state.step_end_ns = now_ns + (left_ns < STEP_S * NS_PER_S ? left_ns : STEP_S * NS_PER_S);
	switch (state.step) {
	case STEP_TERM:
		kill(-1, SIGTERM);
		kill(-1, SIGCONT);
		break;
	case STEP_KILL:
		kill(-1, SIGKILL);
		break;
	case STEP_UNMOUNT:
		state.step_end_ns = state.end_ns;
		if (!state.contained)
			unmount_in_child();
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
		return state.unmounting <= 0 || (kill(state.unmounting, 0) && errno == ESRCH);
	}
}

int64_t shutdown_step(int64_t now_ns)
{
	if (!state.begun)
		return INT64_MAX;
	if (now_ns >= state.end_ns) {
		log_say(LOG_FAILURE, "the time for shutting down is over");
		end_machine();
	}
	while (step_is_done() || now_ns >= state.step_end_ns) {
		if (!step_is_done())
			log_say(LOG_NOTE, "step %d of shutting down took too long", (int)state.step + 1);
		next_step(now_ns);
	}
	return now_ns + LOOK_MS * NS_PER_MS < state.step_end_ns ? now_ns + LOOK_MS * NS_PER_MS : state.step_end_ns;
}
