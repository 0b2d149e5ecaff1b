/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Remembers which pages of physical memory have been touched, and so which access to one is the first. */
#ifndef BOOTLAB_TOUCHED_MEMORY_H
#define BOOTLAB_TOUCHED_MEMORY_H

#include <stdint.h>

enum { TOUCHED_PAGE_BITS = 12, TOUCHED_CHUNK_BITS = 21, TOUCHED_CHUNK_PAGES = 1 << (TOUCHED_CHUNK_BITS - TOUCHED_PAGE_BITS) };

struct touched_memory {
	struct touched_chunk {
		uint64_t number; /* physical address / 2 MiB, + 1; 0: a free slot */
		uint64_t pages[TOUCHED_CHUNK_PAGES / 64];
	} *slots; /* hash table, never more than half full */
	uint32_t count, slot_mask;
};

enum touched { TOUCHED_BEFORE, TOUCHED_PAGE_FIRST, TOUCHED_CHUNK_FIRST /* and so the page, too */, TOUCHED_UNKNOWN /* no memory */ };

void touched_memory_deinit(struct touched_memory *memory);
enum touched touched_memory_add(struct touched_memory *memory, uint64_t address);

#endif
