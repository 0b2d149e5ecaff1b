/* SPDX-License-Identifier: MIT */
/* Which unit a process belongs to: every pid that a unit holds, found at once however many units there are. */
#ifndef BOOTLAB_INIT_PIDS_H
#define BOOTLAB_INIT_PIDS_H

#include <sys/types.h>

#include "units/units.h"

/* What a unit may hold a process as; of each kind one. */
enum pid_kind { PID_COMMAND, PID_MAIN };

/* Nobody holds anything. */
void pids_init(void);

/* Now `id` holds `pid`, and no longer `before`, which it held as that; 0: none. */
void pids_change(unit_id id, enum pid_kind kind, pid_t before, pid_t pid);

/* The unit that holds it, or NO_UNIT. */
unit_id pids_owner(pid_t pid);

#endif
