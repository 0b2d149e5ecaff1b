/* SPDX-License-Identifier: MIT */
/* Tells when the boot has reached its goal (without a goal: when all units are up), and says so. */
#ifndef BOOTLAB_INIT_GOAL_H
#define BOOTLAB_INIT_GOAL_H

#include "units/config.h"
#include "units/units.h"

void goal_init(const struct units *units, const struct config *config);

/* The units are these from now on, with the same numbers. */
void goal_succeed(const struct units *units);

void goal_unit_up(unit_id id);
void goal_unit_failed(unit_id id);

/* There is a goal, and it has neither been reached nor failed. */
bool goal_pending(void);

/* Say what has been decided, once. */
void goal_look(void);

/* The goal can no longer be reached, which is to be answered (on-failure). True once. */
bool goal_take_failure(void);

#endif
