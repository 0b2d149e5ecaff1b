/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests which access to a page and to a chunk is the first, over all of the address space. */
#include "records/touched_memory.h"

#include "check.h"

int main(void)
{
	enum { CHUNKS = 5000 };
	struct touched_memory memory = { .count = 0 };

	CHECK(touched_memory_add(&memory, 0) == TOUCHED_CHUNK_FIRST);
	CHECK(touched_memory_add(&memory, 0xfff) == TOUCHED_BEFORE);
	CHECK(touched_memory_add(&memory, 0x1000) == TOUCHED_PAGE_FIRST);
	CHECK(touched_memory_add(&memory, 0x1fffff) == TOUCHED_PAGE_FIRST);
	CHECK(touched_memory_add(&memory, 0x200000) == TOUCHED_CHUNK_FIRST);
	CHECK(touched_memory_add(&memory, UINT64_MAX) == TOUCHED_CHUNK_FIRST);
	CHECK(touched_memory_add(&memory, UINT64_MAX) == TOUCHED_BEFORE);
	/* More than the first table holds: none is forgotten as it grows. */
	for (int round = 0; round < 2; round++)
		for (uint64_t i = 0; i < CHUNKS; i++)
			CHECK(touched_memory_add(&memory, (i + 2) << 33 | 0x5000) == (round ? TOUCHED_BEFORE : TOUCHED_CHUNK_FIRST));
	CHECK(memory.count == CHUNKS + 3 && touched_memory_add(&memory, 0x1000) == TOUCHED_BEFORE);
	touched_memory_deinit(&memory);
	puts("test_touched_memory: ok");
	return 0;
}
