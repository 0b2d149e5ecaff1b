/* SPDX-License-Identifier: MIT */
/* Our memset and memcpy at every place in a word and of every small size, beside those of the C library. */
#ifndef BOOTLAB_MEMORY_CASES_H
#define BOOTLAB_MEMORY_CASES_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

/* The sanitizers have their own: ours go by other names here. */
#define memset our_memset
#define memcpy our_memcpy
#define MEMORY_TESTED
#include "shared/memory.c"
#undef memset
#undef memcpy

enum { ROOM = 96, PLACES = 2 * sizeof(uintptr_t), SIZES = 5 * sizeof(uintptr_t), SEED = 0xa5 };

static unsigned char was[ROOM], ours[ROOM], theirs[ROOM];

static void begin(void)
{
	for (unsigned i = 0; i < ROOM; i++) {
		was[i] = (unsigned char)(i * 7 + 1);
		ours[i] = theirs[i] = SEED;
	}
}

static void fill_and_copy(size_t to, size_t from, size_t size)
{
	begin();
	CHECK(our_memset(ours + to, (int)(0x1200 + size), size) == ours + to);
	memset(theirs + to, (int)(0x1200 + size), size);
	CHECK(!memcmp(ours, theirs, ROOM));
	CHECK(our_memcpy(ours + to, was + from, size) == ours + to);
	memcpy(theirs + to, was + from, size);
	CHECK(!memcmp(ours, theirs, ROOM));
}

static void test_all_places_and_sizes(void)
{
	for (size_t to = 0; to < PLACES; to++)
		for (size_t from = 0; from < PLACES; from++)
			for (size_t size = 0; size < SIZES; size++)
				fill_and_copy(to, from, size);
}

#endif
