/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bit for each page, in chunks of 2 MiB that are found by a hash: physical addresses have wide gaps. */
#include "touched_memory.h"

#include <stdbool.h>
#include <stdlib.h>

enum { FIRST = 1 << 8 };

static struct touched_chunk *find(const struct touched_memory *memory, uint64_t number)
{
	uint32_t i = (uint32_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & memory->slot_mask;

	while (memory->slots[i].number && memory->slots[i].number != number)
		i = (i + 1) & memory->slot_mask;
	return &memory->slots[i];
}

static bool grow(struct touched_memory *memory)
{
	uint32_t size = memory->slots ? 2 * (memory->slot_mask + 1) : FIRST;
	struct touched_memory grown = { .count = memory->count, .slot_mask = size - 1 };

	grown.slots = size ? calloc(size, sizeof *grown.slots) : NULL;
	if (!grown.slots)
		return false;
	for (uint32_t i = 0; memory->slots && i <= memory->slot_mask; i++)
		if (memory->slots[i].number)
			*find(&grown, memory->slots[i].number) = memory->slots[i];
	free(memory->slots);
	*memory = grown;
	return true;
}

void touched_memory_deinit(struct touched_memory *memory)
{
	free(memory->slots);
	*memory = (struct touched_memory){ 0 };
}

enum touched touched_memory_add(struct touched_memory *memory, uint64_t address)
{
	uint64_t number = (address >> TOUCHED_CHUNK_BITS) + 1, page = address >> TOUCHED_PAGE_BITS & (TOUCHED_CHUNK_PAGES - 1);
	struct touched_chunk *chunk = memory->slots ? find(memory, number) : NULL;
	uint64_t bit = UINT64_C(1) << page % 64;

	if (chunk && chunk->number) {
		if (chunk->pages[page / 64] & bit)
			return TOUCHED_BEFORE;
		chunk->pages[page / 64] |= bit;
		return TOUCHED_PAGE_FIRST;
	}
	if (!memory->slots || 2 * (memory->count + 1) > memory->slot_mask) {
		if (!grow(memory))
			return TOUCHED_UNKNOWN;
		chunk = find(memory, number);
	}
	chunk->number = number;
	chunk->pages[page / 64] = bit;
	memory->count++;
	return TOUCHED_CHUNK_FIRST;
}
