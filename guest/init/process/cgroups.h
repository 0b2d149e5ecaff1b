/* SPDX-License-Identifier: MIT */
/*
 * A cgroup v2 for each unit that runs something, where the kernel has them: everything that the unit's processes start is in it,
 * wherever it forks to, so nothing of it is left behind. No controllers: it is a list of processes.
 */
#ifndef BOOTLAB_INIT_CGROUPS_H
#define BOOTLAB_INIT_CGROUPS_H

#include <stdbool.h>
#include <sys/types.h>

#include "units/units.h"

/* Make the unit's, if that is possible and it is not there; a descriptor of it for clone3(2), or -1. */
int cgroups_open(unit_id id);

/* In a child: go to that one; -1: there is none. */
void cgroups_enter(int group);

bool cgroups_is_there(unit_id id);

/* Whether a process is in it; or this one. */
bool cgroups_is_populated(unit_id id);
bool cgroups_has(unit_id id, pid_t pid);

/* Send signal `number` to all that are in it; false where there is none, or the kernel does not say who they are. */
bool cgroups_signal(unit_id id, int number);

/* The unit is down: it goes, unless something is still in it. */
void cgroups_remove(unit_id id);

typedef void cgroups_empty_fn(unit_id id);

/* Call `empty` when nothing is in it any more, once. False when that cannot be watched. */
bool cgroups_watch(unit_id id, cgroups_empty_fn *empty);

#endif
