/* SPDX-License-Identifier: MIT */
/* What all processes of a unit may use together: written into its cgroup, where that has the controller; said, where it has not. */
#ifndef BOOTLAB_INIT_CGROUP_LIMITS_H
#define BOOTLAB_INIT_CGROUP_LIMITS_H

#include <stdbool.h>

#include "units/units.h"

/* Whether the unit's file has such limits. */
bool cgroup_limits_wanted(const struct unit *unit);

/* Write them: `above` is the folder of all units' cgroups, -1 where there is none, and `group` the unit's below it. */
void cgroup_limits_write(const struct unit *unit, int above, const char *group);

#endif
