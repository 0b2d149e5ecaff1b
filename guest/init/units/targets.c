/* SPDX-License-Identifier: MIT */
/*
 * Makes of systemd's targets what services are ordered through. A target that some service says it is before is a name
 * that is up when that service is; one that nothing is before is there from the beginning. So a firewall that is before
 * network-pre.target is up before the network is, and before what comes after the network.
 */
#include "targets.h"

#include <string.h>

/* What comes after what among targets and facilities: systemd.special(7). */
static const struct {
	const char *first, *then;
} ORDER[] = {
	{ "network-pre.target", "$network" },	  { "local-fs-pre.target", "$local_fs" }, { "remote-fs-pre.target", "$remote_fs" },
	{ "$local_fs", "sysinit.target" },	  { "sysinit.target", "basic.target" },	  { "sockets.target", "basic.target" },
	{ "time-set.target", "time-sync.target" },
};

/* What a service waits for that says nothing else: systemd.service(5), default dependencies. */
static const char *const DEFAULTS[] = { "sysinit.target", "basic.target" };

/* Reached when the system ends, or instead of the goal: nearly every service is before them, and at a start nothing after. */
static const char *const ENDS[] = { "shutdown.target", "umount.target",	   "final.target",  "reboot.target",
				    "poweroff.target", "halt.target",	   "kexec.target",  "rescue.target",
				    "emergency.target", "sleep.target",	   "suspend.target", "hibernate.target" };

static bool is_end(struct slice name)
{
	for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++)
		if (slice_is(name, ENDS[i]))
			return true;
	return false;
}

static bool is_before(const struct units *units, const struct unit *unit, const char *target)
{
	for (ref_id r = unit->refs; r != NO_REF; r = units->refs[r].next)
		if (units->refs[r].reversed && !strcmp(units->refs[r].name, target))
			return true;
	return false;
}

static void wait_for(struct units *units, struct unit *unit, const char *target)
{
	struct ref how = { .line = unit->line, .relation = RELATION_AFTER, .when = AT_START | AT_STOP };

	if (units_find(units, slice_of(target)) != NO_UNIT && !is_before(units, unit, target))
		units_refer(units, unit, slice_of(target), how);
}

static void add_names(struct units *units)
{
	for (size_t i = 0; i < units->n_refs; i++) {
		const struct ref *ref = &units->refs[i];
		const struct unit *from = &units->unit[ref->from];
		struct slice name = slice_of(ref->name);
		struct unit *target;

		if (!ref->reversed || from->origin != ORIGIN_SYSTEMD || !slice_ends(name, ".target") || is_end(name) ||
		    units_find(units, name) != NO_UNIT)
			continue;
		target = units_add(units, ORIGIN_FACILITY, name, from->path);
		if (!target)
			return;
		target->line = ref->line;
		target->readiness = READY_EXIT;
	}
}

void targets_make(struct units *units)
{
	size_t n_units;

	add_names(units);
	for (size_t i = 0; i < sizeof ORDER / sizeof ORDER[0]; i++) {
		unit_id then = units_find(units, slice_of(ORDER[i].then));

		if (then != NO_UNIT)
			wait_for(units, &units->unit[then], ORDER[i].first);
	}
	n_units = units->n_units;
	for (size_t i = 0; i < n_units; i++) {
		struct unit *unit = &units->unit[i];

		/* The addresses of this init itself, for which systemd has services that say so. */
		if (unit->is_network)
			wait_for(units, unit, "network-pre.target");
		for (size_t j = 0; j < sizeof DEFAULTS / sizeof DEFAULTS[0]; j++)
			if (unit->origin == ORIGIN_SYSTEMD && !unit->no_defaults)
				wait_for(units, unit, DEFAULTS[j]);
	}
}
