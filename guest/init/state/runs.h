/* SPDX-License-Identifier: MIT */
/*
 * What each unit is doing: its state, the processes and descriptors that it does it by, and until when. Here is what all
 * others read and write; supervision/ decides. docs/init.md has the picture of the states.
 */
#ifndef BOOTLAB_INIT_RUNS_H
#define BOOTLAB_INIT_RUNS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "units/units.h"

enum state {
	STATE_OFF,	/* not started, or stopped */
	STATE_WAITING,	/* for others */
	STATE_ELIGIBLE, /* for its turn */
	STATE_STARTING,
	STATE_UP,
	STATE_STOPPING,
	STATE_BACKOFF, /* until it is started again */
	STATE_FAILED,
	STATE_BLOCKED, /* what it needs is not there */
	STATE_LEFT_OUT, /* by its condition */
	STATES
};

struct run {
	uint8_t state, phase;
	uint8_t after_stop;   /* the state that stopping ends in */
	bool stop_wanted;     /* by the user, or at shutdown */
	bool start_wanted;    /* again, when it is down */
	bool wait_wanted;     /* for what it needs, when it is down: that has gone of itself */
	bool spawn_again;     /* there was no process to be had: try once more soon */
	bool poll_pidfile;    /* look for it again */
	bool poll_leftovers;  /* look whether all that it has started is gone; all three change by their runs_set_ alone */
	bool pidfile_refused; /* which has been said; and that a process which it named as its main one was refused */
	bool main_refused;
	bool window_open;
	bool reload_failed;   /* the last time */
	bool is_full;	      /* its connections are as many as may be, or nothing could be had for one more */
	bool full_told;
	uint16_t connections; /* processes that each have one */
	bool demanded;	      /* it was up, listening, and now its program is started */
	uint16_t command;     /* of the phase, that runs now */
	pid_t pid;	      /* of that command; both change by runs_set_ alone */
	pid_t main;	      /* the daemon */
	pid_t next_main;      /* announced, and not yet our child */
	uid_t next_main_by;   /* who announced it */
	pid_t session;	      /* that its start command has begun */
	int exec_fd, output_fd, ready_fd, notify_fd;
	int exec_error;	      /* -errno of the last program that could not be executed, and at which step; 0: it was, as far as is known */
	uint8_t exec_step;
	int connections_fd;   /* what those write into: the other end of output_fd */
	int helper_fd;	      /* what a command beside the daemon writes: its own pipe stays the daemon's */
	int64_t deadline_ns;  /* of what it is doing; 0: none. Changes by runs_set_deadline alone */
	int64_t watchdog_ns;  /* of its program; 0: none */
	int64_t since_ns;     /* in this state */
	int64_t up_ns;	      /* when it was ready, last */
	uint32_t restarts;
	uint32_t taken_lines, taken_bytes, messages; /* in this window (runs_open_window) */
	char why[160];	      /* of the last failure; empty: none */
	char notify_name[8];  /* of the socket, without its leading NUL */
	char last_line[120];  /* that it has written */
	char line[256];	      /* being written */
	uint16_t line_size;
};

extern struct run *runs;

/* Everything is being stopped, for good: nothing is started any more. */
extern bool runs_ending;

/* All is about these units from now on; none of them has been started. */
void runs_init(struct units *units);
const struct units *runs_units(void);

/* They are these from now on, each with the number that it had; some may be new. */
void runs_succeed(struct units *units);

/* It is down, and what its files say may be another thing than what it was. */
void runs_take_later(unit_id id);

/* Be in `state` from now on, without a deadline. */
void runs_enter(unit_id id, enum state state);

/* Until when it may do what it is doing; 0: for ever. */
void runs_set_deadline(unit_id id, int64_t deadline_ns);

/* Look at it again soon, as long as one of them is set. */
enum { RUNS_POLL_MS = 20 };
void runs_set_spawn_again(unit_id id, bool again);
void runs_set_poll_pidfile(unit_id id, bool poll);
void runs_set_poll_leftovers(unit_id id, bool poll);

/*
 * What a unit may have PID 1 do is counted in windows of RUNS_WINDOW_MS. One begins when none is open; at its end what was
 * counted is forgotten, and descriptors that were paused are read on (lifecycle_window_over).
 */
enum { RUNS_WINDOW_MS = 100 };
void runs_open_window(unit_id id);
void runs_close_window(unit_id id);

/* The processes that it has; 0: none. */
void runs_set_pid(unit_id id, pid_t pid);
void runs_set_main(unit_id id, pid_t pid);

/* How many units are in this state; how many are starting that want nothing else to start meanwhile. */
unsigned runs_count(enum state state);
unsigned runs_serial_starting(void);

/* What it is doing may take until `more_ns` from now. */
void runs_extend(unit_id id, int64_t more_ns);

/* It says that it is well, or that it says so every `watchdog_ns` from now on; counts as long as it is up. */
void runs_feed_watchdog(unit_id id);
void runs_set_watchdog(unit_id id, int64_t watchdog_ns);

/* It says that it is not well. */
void runs_starve_watchdog(unit_id id);

const char *runs_state_name(enum state state);

#endif
