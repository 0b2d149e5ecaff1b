/* SPDX-License-Identifier: MIT */
/* CHECK(claim): say where and what, and fail the program. And units whose complaints are kept. */
#ifndef BOOTLAB_INIT_TESTS_CHECK_H
#define BOOTLAB_INIT_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "units/units.h"

#define CHECK(claim)                                                                         \
	do {                                                                                 \
		if (!(claim)) {                                                              \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #claim); \
			fprintf(stderr, "complaints:\n%s", complaints);                      \
			exit(EXIT_FAILURE);                                                  \
		}                                                                            \
	} while (0)

static struct units units;
static char complaints[1 << 16];

static inline void keep_complaint(void *context, const char *path, unsigned line, const char *message)
{
	size_t used = strlen(complaints);

	(void)context;
	snprintf(complaints + used, sizeof complaints - used, "%s:%u: %s\n", path, line, message);
}

static inline void begin(void)
{
	complaints[0] = '\0';
	memset(units.buckets, 0, sizeof units.buckets);
	units_init(&units, keep_complaint, NULL);
}

static inline struct unit *unit_named(const char *name)
{
	unit_id id = units_find(&units, slice_of(name));

	return id == NO_UNIT ? NULL : &units.unit[id];
}

/* Whether `from` waits for `to`, and as what; -1: it does not. */
static inline int relation(const char *from, const char *to, int when)
{
	const struct unit *unit = unit_named(from), *other = unit_named(to);

	if (!unit || !other)
		return -1;
	for (edge_id e = unit->edges_out; e != NO_EDGE; e = units.edges[e].next_of_from)
		if (&units.unit[units.edges[e].to] == other && (units.edges[e].when & when))
			return units.edges[e].relation;
	return -1;
}

#endif
