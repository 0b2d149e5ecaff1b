/* SPDX-License-Identifier: MIT */
/* Reads resource limits, capabilities and shares of a cgroup out of what unit files of both formats say. */
#include "confinement.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>

#include "shared/clock.h"

enum { PERCENT = 100, MOST_WEIGHT = 10000, NICEST = 20 };

#define NO_ROOM "less: there is no room for it"

/* The unit's, made if it has none yet; NULL when there is no room. */
static struct confinement *confinement_of(struct units *units, struct unit *unit)
{
	if (!unit->confinement) {
		unit->confinement = arena_take(&units->arena, sizeof *unit->confinement);
		if (unit->confinement)
			*unit->confinement = (struct confinement){ .group = { 0 } };
	}
	return unit->confinement;
}

/* "512M": with K, M, G or T for powers of 1024. 0 or -EINVAL. */
static int parse_bytes(struct slice text, int64_t *ret)
{
	static const char LETTERS[] = "KMGT";
	const char *letter = text.size > 1 ? memchr(LETTERS, text.at[text.size - 1], strlen(LETTERS)) : NULL;
	unsigned shift = letter ? 10 * (unsigned)(letter - LETTERS + 1) : 0;

	text.size -= letter != NULL;
	if (parse_number(text, 0, INT64_MAX >> shift, ret))
		return -EINVAL;
	*ret <<= shift;
	return 0;
}

/* A bare number is in the kernel's own unit, `unit_ns`. */
static int parse_time(struct slice text, int64_t unit_ns, int64_t *ret)
{
	int64_t ns;

	if (parse_number(text, 0, INT64_MAX, ret) == 0)
		return 0;
	if (parse_duration(text, &ns))
		return -EINVAL;
	*ret = (ns + unit_ns - 1) / unit_ns;
	return 0;
}

/* "-5": a nice value; the kernel's number counts from 20 down to it. */
static int parse_nice(struct slice text, int64_t *ret)
{
	bool is_nice = text.size > 1 && (text.at[0] == '-' || text.at[0] == '+');

	if (!is_nice)
		return parse_number(text, 0, 2 * NICEST, ret);
	if (parse_number(slice_from(text, text.at[0] == '+'), -NICEST, NICEST - 1, ret))
		return -EINVAL;
	*ret = NICEST - *ret;
	return 0;
}

static int parse_limit(struct slice text, int which, uint64_t *ret)
{
	int64_t number;
	int r;

	if (slice_is(text, "infinity")) {
		*ret = UINT64_MAX;
		return 0;
	}
	switch (which) {
	case RLIMIT_CPU:
		r = parse_time(text, NS_PER_S, &number);
		break;
	case RLIMIT_RTTIME:
		r = parse_time(text, NS_PER_MS / 1000, &number);
		break;
	case RLIMIT_NICE:
		r = parse_nice(text, &number);
		break;
	case RLIMIT_NPROC:
	case RLIMIT_NOFILE:
	case RLIMIT_LOCKS:
	case RLIMIT_SIGPENDING:
	case RLIMIT_RTPRIO:
		r = parse_number(text, 0, INT64_MAX, &number);
		break;
	default:
		r = parse_bytes(text, &number);
	}
	*ret = (uint64_t)number;
	return r;
}

const char *confinement_limit_set(struct units *units, struct unit *unit, struct slice value, int which)
{
	static const char EXPECTED[] = "a limit or SOFT:HARD, each a number (bytes: with K, M, G or T; times: with their unit), or infinity";
	struct confinement *confinement = confinement_of(units, unit);
	const char *colon = memchr(value.at, ':', value.size);
	struct slice soft = { value.at, colon ? (size_t)(colon - value.at) : value.size }, hard = value;
	struct resource_limit limit = { .given = true };

	if (colon)
		hard = slice_from(value, soft.size + 1);
	if (parse_limit(soft, which, &limit.soft) || parse_limit(hard, which, &limit.hard) || limit.soft > limit.hard ||
	    (which == RLIMIT_NOFILE && limit.soft == 0))
		return EXPECTED;
	if (!confinement)
		return NO_ROOM;
	confinement->resources[which] = limit;
	return NULL;
}

static const struct {
	const char *key, *expected;
	int64_t least, most;
} GROUPS[GROUP_LIMITS] = {
	[GROUP_MEMORY_MAX] = { "memory-max", "bytes, with K, M, G or T, a share of the machine's as 25%, or infinity", 1, INT64_MAX - 1 },
	[GROUP_CPU_WEIGHT] = { "cpu-weight", "a weight from 1 to 10000 (100 is everybody's)", 1, MOST_WEIGHT },
	[GROUP_PIDS_MAX] = { "pids-max", "a number of processes and threads, or infinity", 1, 1 << 22 },
};

const char *confinement_group_name(enum group_limit which)
{
	return GROUPS[which].key;
}

const char *confinement_group_set(struct units *units, struct unit *unit, struct slice value, enum group_limit which)
{
	struct confinement *confinement = confinement_of(units, unit);
	int64_t number;

	if (which != GROUP_CPU_WEIGHT && slice_is(value, "infinity")) {
		number = GROUP_INFINITE;
	} else if (which == GROUP_MEMORY_MAX && slice_ends(value, "%")) {
		if (parse_number((struct slice){ value.at, value.size - 1 }, 1, PERCENT, &number))
			return GROUPS[which].expected;
		number = -number;
	} else if ((which == GROUP_MEMORY_MAX ? parse_bytes(value, &number) : parse_number(value, 0, INT64_MAX, &number)) ||
		   number < GROUPS[which].least || number > GROUPS[which].most) {
		return GROUPS[which].expected;
	}
	if (!confinement)
		return NO_ROOM;
	confinement->group[which] = number;
	return NULL;
}

const char *confinement_privileges_set(struct units *units, struct unit *unit, struct slice value)
{
	bool given;

	if (parse_bool(value, &given))
		return "yes or no";
	/* What says no is as it was without. */
	if (!given && !unit->confinement)
		return NULL;
	if (!confinement_of(units, unit))
		return NO_ROOM;
	unit->confinement->no_new_privileges = given;
	return NULL;
}

/* In the kernel's order (capability.h); its numbers never change. */
static const char *const CAPABILITIES[] = {
	"chown",	   "dac_override",   "dac_read_search",	 "fowner",	 "fsetid",	  "kill",
	"setgid",	   "setuid",	     "setpcap",		 "linux_immutable", "net_bind_service", "net_broadcast",
	"net_admin",	   "net_raw",	     "ipc_lock",	 "ipc_owner",	 "sys_module",	  "sys_rawio",
	"sys_chroot",	   "sys_ptrace",     "sys_pacct",	 "sys_admin",	 "sys_boot",	  "sys_nice",
	"sys_resource",	   "sys_time",	     "sys_tty_config",	 "mknod",	 "lease",	  "audit_write",
	"audit_control",   "setfcap",	     "mac_override",	 "mac_admin",	 "syslog",	  "wake_alarm",
	"block_suspend",   "audit_read",     "perfmon",		 "bpf",		 "checkpoint_restore",
};

static bool parse_capability(struct slice name, uint64_t *set)
{
	if (name.size > 4 && !strncasecmp(name.at, "cap_", 4))
		name = slice_from(name, 4);
	for (size_t i = 0; i < sizeof CAPABILITIES / sizeof CAPABILITIES[0]; i++)
		if (slice_is_caseless(name, CAPABILITIES[i])) {
			*set |= UINT64_C(1) << i;
			return true;
		}
	return false;
}

/* Names with or without CAP_; false when one is not known. */
static bool capabilities_parse(struct slice value, uint64_t *ret)
{
	struct slice name;

	*ret = 0;
	while (word_next(&value, &name))
		if (!parse_capability(name, ret))
			return false;
	return true;
}

static const char NAMES_EXPECTED[] = "none, or names of capabilities as net_bind_service; all-but before those that are left out";

const char *confinement_capabilities_set(struct units *units, struct unit *unit, struct slice value, enum capability_set which)
{
	struct confinement *confinement = confinement_of(units, unit);
	struct slice rest = value, first;
	bool is_inverted = word_next(&rest, &first) && slice_is(first, "all-but");
	uint64_t set = 0;

	if (value.size == 0 || (is_inverted && (which == CAPABILITIES_AMBIENT || slice_trim(rest).size == 0)) ||
	    (!slice_is(value, "none") && !capabilities_parse(is_inverted ? rest : value, &set)))
		return which == CAPABILITIES_AMBIENT ? "none, or names of capabilities as net_bind_service" : NAMES_EXPECTED;
	if (!confinement)
		return NO_ROOM;
	if (which == CAPABILITIES_AMBIENT) {
		confinement->ambient = set;
		return NULL;
	}
	confinement->bounding = is_inverted ? ~set : set;
	confinement->bounding_given = true;
	return NULL;
}

const char *confinement_capabilities_merge(struct units *units, struct unit *unit, struct slice value, enum capability_set which)
{
	struct confinement *confinement = confinement_of(units, unit);
	bool is_inverted = slice_starts(value, "~"), is_bounding = which == CAPABILITIES_BOUNDING;
	uint64_t set, *place;

	if (!capabilities_parse(is_inverted ? slice_from(value, 1) : value, &set))
		return "names of capabilities that are known here";
	if (!confinement)
		return NO_ROOM;
	place = is_bounding ? &confinement->bounding : &confinement->ambient;
	/* An empty value leaves none; the first one that takes some out begins with all. */
	if (value.size == 0)
		*place = 0;
	else if (!is_inverted)
		*place |= set;
	else if (is_bounding && !confinement->bounding_given)
		*place = ~set;
	else
		*place &= ~set;
	confinement->bounding_given |= is_bounding;
	return NULL;
}
