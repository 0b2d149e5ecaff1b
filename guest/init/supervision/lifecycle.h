/* SPDX-License-Identifier: MIT */
/* The processes of one unit, from its first command to its last; supervise.c decides when it begins and ends. */
#ifndef BOOTLAB_INIT_LIFECYCLE_H
#define BOOTLAB_INIT_LIFECYCLE_H

#include "supervise.h"

void lifecycle_init(struct units *units);

void lifecycle_begin(unit_id id);

/* End it, whatever it is doing; it will be in state `after`. */
void lifecycle_stop(unit_id id, enum state after);

/* Its time for stopping is over. */
void lifecycle_kill(unit_id id);

/* There was no process to be had before. */
void lifecycle_try_again(unit_id id);

void lifecycle_pidfile_found(unit_id id);

/* A child has ended and is not reaped yet: what is left of its process group goes with it. */
void lifecycle_ending(pid_t pid);

/* What supervise.c does about it. */
void supervise_enter(unit_id id, enum state state);
void supervise_settled(unit_id id);
void supervise_up(unit_id id);
void supervise_ended(unit_id id, bool failed, const char *how);
void supervise_down(unit_id id, enum state state);

#endif
