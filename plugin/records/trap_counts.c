/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hash table of what was counted, which only grows: a boot has thousands of different traps, and each comes often. */
#include "trap_counts.h"

#include <stdbool.h>
#include <stdlib.h>

enum { FIRST = 1 << 12 };
static const uint32_t MOST = UINT32_C(1) << 24;

static uint32_t hash(const struct profile_trap *trap)
{
	uint64_t value = trap->number ^ (uint64_t)trap->node << 32 ^ (uint64_t)trap->kind << 24 ^ trap->changes ^ trap->state;

	return (uint32_t)((value * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

static bool is_same(const struct profile_trap *a, const struct profile_trap *b)
{
	return a->node == b->node && a->kind == b->kind && a->number == b->number && a->changes == b->changes && a->state == b->state;
}

static void insert(struct trap_counts *counts, uint32_t index)
{
	uint32_t i = hash(&counts->all[index]) & counts->slot_mask;

	while (counts->slots[i])
		i = (i + 1) & counts->slot_mask;
	counts->slots[i] = index + 1;
}

static bool grow(struct trap_counts *counts)
{
	uint32_t capacity = counts->capacity ? 2 * counts->capacity : FIRST;
	struct profile_trap *all;
	uint32_t *slots;

	if (capacity > MOST)
		return false;
	slots = calloc(2 * (size_t)capacity, sizeof *slots);
	if (!slots)
		return false;
	all = realloc(counts->all, capacity * sizeof *all);
	if (!all) {
		free(slots);
		return false;
	}
	free(counts->slots);
	counts->all = all;
	counts->capacity = capacity;
	counts->slots = slots;
	counts->slot_mask = 2 * capacity - 1;
	for (uint32_t i = 0; i < counts->count; i++)
		insert(counts, i);
	return true;
}

void trap_counts_deinit(struct trap_counts *counts)
{
	free(counts->all);
	free(counts->slots);
	*counts = (struct trap_counts){ 0 };
}

void trap_counts_add(struct trap_counts *counts, uint32_t node, const struct trap *trap)
{
	const struct profile_trap wanted = {
		.node = node, .kind = (uint16_t)trap->kind, .state = trap->state, .number = trap->number, .changes = trap->changes,
	};

	for (uint32_t i = hash(&wanted) & counts->slot_mask; counts->slots && counts->slots[i]; i = (i + 1) & counts->slot_mask) {
		struct profile_trap *one = &counts->all[counts->slots[i] - 1];

		if (is_same(one, &wanted)) {
			one->count++;
			return;
		}
	}
	if (counts->count == counts->capacity && !grow(counts)) {
		counts->lost++;
		return;
	}
	counts->all[counts->count] = wanted;
	counts->all[counts->count].count = 1;
	insert(counts, counts->count++);
}

void trap_counts_cut(struct trap_counts *counts, struct profile_writer *writer)
{
	const struct profile_trap lost = { .kind = TRAP_LOST, .count = counts->lost < UINT32_MAX ? (uint32_t)counts->lost : UINT32_MAX };

	for (uint32_t i = 0; i < counts->count; i++) {
		if (!counts->all[i].count)
			continue;
		profile_writer_add(writer, PROFILE_TRAP, &counts->all[i], sizeof counts->all[i]);
		counts->all[i].count = 0;
	}
	if (counts->lost)
		profile_writer_add(writer, PROFILE_TRAP, &lost, sizeof lost);
	counts->lost = 0;
}
