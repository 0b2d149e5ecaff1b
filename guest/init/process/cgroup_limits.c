/* SPDX-License-Identifier: MIT */
/* Writes memory.max, cpu.weight and pids.max of units' cgroups, and says what cannot be limited. */
#include "cgroup_limits.h"

#include <errno.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "shared/files.h"
#include "shared/print.h"
#include "state/log.h"
#include "units/confinement.h"

enum { PATH_BYTES = 1024, VALUE_BYTES = 32, PERCENT = 100 };

static const struct {
	const char *file, *controller;
} FILES[GROUP_LIMITS] = {
	[GROUP_MEMORY_MAX] = { "memory.max", "+memory" },
	[GROUP_CPU_WEIGHT] = { "cpu.weight", "+cpu" },
	[GROUP_PIDS_MAX] = { "pids.max", "+pids" },
};

bool cgroup_limits_wanted(const struct unit *unit)
{
	for (int i = 0; unit->confinement && i < GROUP_LIMITS; i++)
		if (unit->confinement->group[i] != 0)
			return true;
	return false;
}

static void print_value(char *ret, int64_t value)
{
	struct sysinfo machine;

	if (value < 0 && sysinfo(&machine) == 0)
		value = (int64_t)machine.totalram * machine.mem_unit / PERCENT * -value;
	if (value < 0 || value == GROUP_INFINITE)
		strcpy(ret, "max");
	else
		print(ret, VALUE_BYTES, "%lld", (long long)value);
}

/* From the group that holds all units' on: a controller is handed down step by step. */
static int enable(int above, const char *controller)
{
	int r = file_write_at(above, "../cgroup.subtree_control", controller);

	return r ? r : file_write_at(above, "cgroup.subtree_control", controller);
}

static int write_one(int above, const char *group, int which, int64_t limit)
{
	char path[PATH_BYTES], value[VALUE_BYTES];
	int r;

	if (above < 0)
		return -ENOTSUP;
	print_value(value, limit);
	print(path, sizeof path, "%s/%s", group, FILES[which].file);
	r = file_write_at(above, path, value);
	/* Its controller is not there for it yet. */
	if (r == -ENOENT) {
		r = enable(above, FILES[which].controller);
		r = r ? r : file_write_at(above, path, value);
	}
	return r;
}

void cgroup_limits_write(const struct unit *unit, int above, const char *group)
{
	for (int i = 0; i < GROUP_LIMITS; i++) {
		int64_t limit = unit->confinement->group[i];
		int r = limit == 0 ? 0 : write_one(above, group, i, limit);

		if (r)
			log_say(LOG_FAILURE, "%s: %s: %s: it is not limited", unit->name, confinement_group_name((enum group_limit)i),
				above < 0 ? "there is no cgroup v2" :
				r == -ENOENT || r == -EINVAL ? "cgroup v2 has no controller for it here" : strerror(-r));
	}
}
