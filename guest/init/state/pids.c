/* SPDX-License-Identifier: MIT */
/* Keeps the processes that units hold in a hash table by their pid. */
#include "pids.h"

#include <string.h>

#include "shared/own.h"

enum { BUCKETS = 4096, KINDS = 2, FIRST_CONNECTION = MAX_UNITS * KINDS + 1, HOLDINGS = FIRST_CONNECTION + MAX_CONNECTIONS };

/* A holding is unit * KINDS + kind + 1, behind those one of a connection's process; 0 ends a list. */
static uint32_t *first;
static struct {
	pid_t pid;
	uint32_t next;
} *held;

/* Of which unit a connection's process is; those places that were used and are free again are a list, too. */
static unit_id *connected;
static uint32_t free_again, n_used;

void pids_init(void)
{
	/* A new table is all zeros, on pages that there are not yet. */
	if (first)
		memset(first, 0, BUCKETS * sizeof *first);
	OWN_TABLE(first, BUCKETS);
	OWN_TABLE(held, HOLDINGS);
	OWN_TABLE(connected, MAX_CONNECTIONS);
	free_again = n_used = 0;
}

static uint32_t *bucket_of(pid_t pid)
{
	return &first[(uint32_t)pid % BUCKETS];
}

static void put(uint32_t holding, pid_t pid)
{
	held[holding].pid = pid;
	held[holding].next = *bucket_of(pid);
	*bucket_of(pid) = holding;
}

static void take(uint32_t holding, pid_t pid)
{
	for (uint32_t *link = bucket_of(pid); *link; link = &held[*link].next)
		if (*link == holding) {
			*link = held[holding].next;
			return;
		}
}

static uint32_t find(pid_t pid)
{
	uint32_t holding = pid > 0 ? *bucket_of(pid) : 0;

	while (holding && held[holding].pid != pid)
		holding = held[holding].next;
	return holding;
}

void pids_change(unit_id id, enum pid_kind kind, pid_t before, pid_t pid)
{
	uint32_t holding = (uint32_t)id * KINDS + kind + 1;

	if (before > 0)
		take(holding, before);
	if (pid > 0)
		put(holding, pid);
}

unit_id pids_owner(pid_t pid)
{
	uint32_t holding = find(pid);

	if (!holding)
		return NO_UNIT;
	return holding >= FIRST_CONNECTION ? connected[holding - FIRST_CONNECTION] : (unit_id)((holding - 1) / KINDS);
}

bool pids_has_room(void)
{
	return free_again || n_used < MAX_CONNECTIONS;
}

void pids_add_connection(unit_id id, pid_t pid)
{
	uint32_t holding = free_again ? free_again : FIRST_CONNECTION + n_used++;

	if (free_again)
		free_again = held[free_again].next;
	connected[holding - FIRST_CONNECTION] = id;
	put(holding, pid);
}

bool pids_end_connection(pid_t pid)
{
	uint32_t holding = find(pid);

	if (holding < FIRST_CONNECTION)
		return false;
	take(holding, pid);
	held[holding].pid = 0;
	held[holding].next = free_again;
	free_again = holding;
	return true;
}

pid_t pids_next_connection(unit_id id, uint32_t *at)
{
	while (*at < n_used) {
		uint32_t place = (*at)++;

		if (held[FIRST_CONNECTION + place].pid > 0 && connected[place] == id)
			return held[FIRST_CONNECTION + place].pid;
	}
	return 0;
}
