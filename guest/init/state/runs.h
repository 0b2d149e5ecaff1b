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
};

struct run {
	uint8_t state, phase;
	uint8_t after_stop;   /* the state that stopping ends in */
	bool stop_wanted;     /* by the user, or at shutdown */
	bool start_wanted;    /* again, when it is down */
	bool takes_slot;      /* counts as starting */
	bool spawn_again;     /* there was no process to be had: try once more soon */
	bool poll_pidfile;
	uint16_t command;     /* of the phase, that runs now */
	pid_t pid;	      /* of that command */
	pid_t main;	      /* the daemon */
	pid_t next_main;      /* announced, and not yet our child */
	int exec_fd, output_fd, ready_fd, notify_fd;
	int helper_fd;	      /* what a command beside the daemon writes: its own pipe stays the daemon's */
	int64_t deadline_ns;  /* of what it is doing; 0: none */
	int64_t since_ns;     /* in this state */
	int64_t up_ns;	      /* when it was ready, last */
	uint32_t restarts;
	char why[160];	      /* of the last failure; empty: none */
	char notify_name[8];  /* of the socket, without its leading NUL */
	char last_line[120];  /* that it has written */
	char line[256];	      /* being written */
	uint16_t line_size;
};

extern struct run runs[MAX_UNITS];

/* Everything is being stopped, for good: nothing is started any more. */
extern bool runs_ending;

/* All is about these units from now on; none of them has been started. */
void runs_init(const struct units *units);
const struct units *runs_units(void);

/* Be in `state` from now on, without a deadline. */
void runs_enter(unit_id id, enum state state);

/* How many units are starting. */
unsigned runs_starting(void);

/* What it is doing may take until `more_ns` from now. */
void runs_extend(unit_id id, int64_t more_ns);

const char *runs_state_name(enum state state);

#endif
