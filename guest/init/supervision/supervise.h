/* SPDX-License-Identifier: MIT */
/*
 * What each unit is doing, and what happens next to it: the states, and every event that moves a unit from one to another.
 * docs/init.md has the picture.
 */
#ifndef BOOTLAB_INIT_SUPERVISE_H
#define BOOTLAB_INIT_SUPERVISE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "units/config.h"
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
	bool killed;	      /* SIGKILL has been sent */
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

/* Everything below works on these units, for good. */
void supervise_init(struct units *units, const struct config *config);

/* Start all that is wanted. */
void supervise_boot(void);

/* What the user asks for; a name that does not exist is -ENOENT. Stopping stops what needs it first. */
int supervise_start(struct slice name);
int supervise_stop(struct slice name);
int supervise_restart(struct slice name);

/* Begin to stop everything, whatever it is doing; nothing is started any more. */
void supervise_stop_all(void);
bool supervise_all_down(void);

/* A child is gone. */
void supervise_child(pid_t pid, int status, const struct rusage *used);

/* Do what is due by now; when to look again: `now_ns` itself when something has changed by it. */
int64_t supervise_timers(int64_t now_ns);

/* Start and stop what can be started and stopped; after every event. */
void supervise_schedule(int64_t now_ns);

bool supervise_goal_failed(void);

/* Events of a unit's descriptors, from ready.c and spawn.c. */
void supervise_executed(unit_id id);
void supervise_ready(unit_id id);
__attribute__((format(printf, 2, 3)))
void supervise_fail(unit_id id, const char *format, ...);
void supervise_set_main(unit_id id, pid_t pid);
void supervise_extend(unit_id id, int64_t more_ns);

const struct units *supervise_units(void);
unsigned supervise_starting(void);
bool supervise_goal_reached(void);
const char *state_name(enum state state);

#endif
