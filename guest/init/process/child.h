/* SPDX-License-Identifier: MIT */
/* What happens between fork and exec, in the child: nothing of it can hurt PID 1. */
#ifndef BOOTLAB_INIT_CHILD_H
#define BOOTLAB_INIT_CHILD_H

#include <stddef.h>
#include <sys/types.h>

#include "units/units.h"

/* Comes through the pipe when the program cannot be executed. */
struct exec_failure {
	int error;
	uint8_t step;
};

enum child_step {
	STEP_TTY = 1,
	STEP_DESCRIPTOR,
	STEP_LIMIT,
	STEP_GROUP,
	STEP_USER,
	STEP_RUN_FOLDER,
	STEP_DIRECTORY,
	STEP_ENVIRONMENT,
	STEP_CAPABILITIES,
	STEP_EXEC
};

/* What a step is called. */
const char *child_step_name(unsigned step);

struct child {
	const struct unit *unit;
	const struct command *command;
	pid_t main;		 /* the daemon that a stop command is for, or 0 */
	int exec_fd, output_fd, ready_fd;
	const int *sockets;	 /* of PID 1, for the program */
	unsigned n_sockets;
	const char *notify_name; /* of the abstract socket, or NULL */
};

__attribute__((noreturn))
void child_run(const struct child *child);

/* In a fork of PID 1: close what it has open but the standard streams and these; -1: none. */
void child_close_others(const int *kept, size_t n_kept);

#endif
