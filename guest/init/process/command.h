/* SPDX-License-Identifier: MIT */
/* The command that a unit is at: which it is, how it is run or tried again, and the signals that its processes get. */
#ifndef BOOTLAB_INIT_COMMAND_H
#define BOOTLAB_INIT_COMMAND_H

#include <stdbool.h>

#include "spawn.h"
#include "state/runs.h"
#include "units/units.h"

/* Whether the program of the start command goes on running, and is the daemon. */
bool command_is_daemon(const struct unit *unit);

const struct command *command_current(const struct units *units, unit_id id);

/* Go to the next command of this phase, from `from` on; false when there is none. */
bool command_find(const struct units *units, unit_id id, uint16_t from);

/*
 * Run the current command, or the built-in work. 0, also when there is no process or descriptor to be had: that is said, and
 * runs[id].spawn_again is set. -errno when the socket at `*ret_address` cannot be opened.
 */
int command_run(const struct units *units, unit_id id, const struct spawn_watchers *watchers, const char **ret_address);

/* Whether one of the two processes that the unit holds is there; whether anything is that it has started. */
bool command_has_process(const struct run *run);
bool command_is_alive(const struct units *units, unit_id id);

/* Send signal `number` to all of them, with their groups; or only to what runs beside the daemon. */
void command_signal(const struct units *units, unit_id id, int number);
void command_signal_helper(const struct run *run, int number);

#endif
