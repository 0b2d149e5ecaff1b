/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that are recorded one by one, or added up (system calls), from their entry to their return. */
#ifndef BOOTLAB_CALLS_H
#define BOOTLAB_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "profile_writer.h"

enum { CALL_SYSTEM = 0 }; /* beside enum profile_call_kind: added up */
enum { CALL_TEXT_SIZE = 160 };

struct open_call {
	uint64_t start_ns, start_instructions, task_instructions, argument;
	uint32_t node, task;
	uint32_t kind;
	uint32_t next_free; /* number + 1 */
	char text[CALL_TEXT_SIZE];
};

/* Where a call ends. `instructions` are all vCPUs', `task_instructions` those of its task. */
struct call_end {
	uint64_t t_ns, instructions, task_instructions;
};

struct calls {
	struct profile_writer *writer;
	struct open_call *open;
	uint32_t n_open, capacity, free; /* `free`: number + 1 of a free place */
	/* System calls by task and function since the last cut: an open hash table, never more than half full. */
	struct profile_syscall *totals;
	uint32_t n_totals, totals_mask;
};

void calls_deinit(struct calls *calls);

/* Returns a copy's number + 1, or 0 when memory runs out: the call then goes unrecorded. */
uint32_t calls_open(struct calls *calls, const struct open_call *call);
void calls_close(struct calls *calls, uint32_t number, const struct call_end *end, uint16_t flags);
/* Write what system calls add up to, and begin anew. */
void calls_cut(struct calls *calls);

#endif
