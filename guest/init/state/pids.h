/* SPDX-License-Identifier: MIT */
/* Which unit a process belongs to: every pid that a unit holds, found at once however many units there are. */
#ifndef BOOTLAB_INIT_PIDS_H
#define BOOTLAB_INIT_PIDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "units/units.h"

/* What a unit may hold a process as; of each kind one. */
enum pid_kind { PID_COMMAND, PID_MAIN };

/* Besides those, processes that each have one connection (each-connection): as many of all units together. */
enum { MAX_CONNECTIONS = 1 << 12 };

/* Nobody holds anything. */
void pids_init(void);

/* Now `id` holds `pid`, and no longer `before`, which it held as that; 0: none. */
void pids_change(unit_id id, enum pid_kind kind, pid_t before, pid_t pid);

/* The unit that holds it, or NO_UNIT. */
unit_id pids_owner(pid_t pid);

/* Whether there is room for one more of a connection, and then have it; and no longer: false when it is no such process. */
bool pids_has_room(void);
void pids_add_connection(unit_id id, pid_t pid);
bool pids_end_connection(pid_t pid);

/* The next one that the unit has, from `*at` on, which begins at 0; 0: no more. */
pid_t pids_next_connection(unit_id id, uint32_t *at);

#endif
