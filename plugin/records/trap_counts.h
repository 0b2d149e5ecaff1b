/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts the traps of each node of the call tree, by what they were, and hands out at a cut what came since the last one. */
#ifndef BOOTLAB_TRAP_COUNTS_H
#define BOOTLAB_TRAP_COUNTS_H

#include <stdint.h>

#include "profile_writer.h"

struct trap {
	enum profile_trap_kind kind;
	uint16_t state;
	uint32_t changes;
	uint64_t number;
};

struct trap_counts {
	struct profile_trap *all;
	uint32_t count, capacity;
	uint32_t *slots; /* hash table of indexes + 1, never more than half full */
	uint32_t slot_mask;
	uint64_t lost; /* for want of memory, since the last cut */
};

/* The first allocation is made when there is something to count. */
void trap_counts_deinit(struct trap_counts *counts);
void trap_counts_add(struct trap_counts *counts, uint32_t node, const struct trap *trap);
/* Write all counts and begin anew from zero. */
void trap_counts_cut(struct trap_counts *counts, struct profile_writer *writer);

#endif
