/* SPDX-License-Identifier: MIT */
/* What a unit's processes may do and use at most, where its file says so: resource limits, capabilities, shares of its cgroup. */
#ifndef BOOTLAB_INIT_CONFINEMENT_H
#define BOOTLAB_INIT_CONFINEMENT_H

#include "units.h"

enum { RESOURCES = 16 /* RLIMIT_CPU to RLIMIT_RTTIME */ };

struct resource_limit {
	uint64_t soft, hard; /* UINT64_MAX: infinity */
	bool given;
};

enum group_limit { GROUP_MEMORY_MAX, GROUP_CPU_WEIGHT, GROUP_PIDS_MAX, GROUP_LIMITS };

enum capability_set { CAPABILITIES_BOUNDING, CAPABILITIES_AMBIENT };

/* A file that says nothing of all this has none. */
struct confinement {
	struct resource_limit resources[RESOURCES];
	int64_t group[GROUP_LIMITS];  /* 0: none; GROUP_INFINITE; of memory, too, below that: minus so many percent of the machine's */
	uint64_t bounding, ambient;   /* a bit for each capability */
	bool bounding_given, no_new_privileges;
};

#define GROUP_INFINITE INT64_MAX

/* Each NULL, or what was expected instead. A limit is NUMBER or SOFT:HARD, `which` one of RLIMIT_. */
const char *confinement_limit_set(struct units *units, struct unit *unit, struct slice value, int which);
const char *confinement_group_set(struct units *units, struct unit *unit, struct slice value, enum group_limit which);
const char *confinement_privileges_set(struct units *units, struct unit *unit, struct slice value);

/* What its processes can have at most, and what they keep for another user. As `capabilities` has it: none, or names. */
const char *confinement_capabilities_set(struct units *units, struct unit *unit, struct slice value, enum capability_set which);

/* As systemd merges several lines: names add to the set, those behind a ~ are taken out of it. */
const char *confinement_capabilities_merge(struct units *units, struct unit *unit, struct slice value, enum capability_set which);

/* The key of a unit file that says it: for messages. */
const char *confinement_group_name(enum group_limit which);

#endif
