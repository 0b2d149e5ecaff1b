/* SPDX-License-Identifier: MIT */
/* Keeps the processes that units hold in a hash table by their pid. */
#include "pids.h"

#include <string.h>

#include "shared/own.h"

enum { BUCKETS = 4096, KINDS = 2 };

/* A holding is unit * KINDS + kind + 1; 0 ends a list. */
static uint32_t *first, *next;
static pid_t *held;

void pids_init(void)
{
	OWN_TABLE(first, BUCKETS);
	OWN_TABLE(next, MAX_UNITS * KINDS + 1);
	OWN_TABLE(held, MAX_UNITS * KINDS + 1);
	memset(first, 0, BUCKETS * sizeof *first);
}

static uint32_t *bucket_of(pid_t pid)
{
	return &first[(uint32_t)pid % BUCKETS];
}

void pids_change(unit_id id, enum pid_kind kind, pid_t before, pid_t pid)
{
	uint32_t holding = (uint32_t)id * KINDS + kind + 1;

	if (before > 0)
		for (uint32_t *link = bucket_of(before); *link; link = &next[*link])
			if (*link == holding) {
				*link = next[holding];
				break;
			}
	if (pid <= 0)
		return;
	held[holding] = pid;
	next[holding] = *bucket_of(pid);
	*bucket_of(pid) = holding;
}

unit_id pids_owner(pid_t pid)
{
	for (uint32_t holding = pid > 0 ? *bucket_of(pid) : 0; holding; holding = next[holding])
		if (held[holding] == pid)
			return (unit_id)((holding - 1) / KINDS);
	return NO_UNIT;
}
