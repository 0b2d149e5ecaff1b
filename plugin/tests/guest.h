/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A guest's memory for tests: words and strings at any address; what was not put there is not mapped. */
#ifndef BOOTLAB_TESTS_GUEST_H
#define BOOTLAB_TESTS_GUEST_H

#include <string.h>

#include "check.h"
#include "code/guest_memory.h"

enum { GUEST_PAGE = 4096, GUEST_PAGES = 64 };

static struct {
	uint64_t address;
	uint8_t bytes[GUEST_PAGE];
} guest_pages[GUEST_PAGES];
static size_t guest_n_pages;

static uint8_t *guest_byte(uint64_t address)
{
	for (size_t i = 0; i < guest_n_pages; i++)
		if (address - guest_pages[i].address < GUEST_PAGE)
			return &guest_pages[i].bytes[address - guest_pages[i].address];
	return NULL;
}

static bool guest_read(uint64_t address, void *ret, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		const uint8_t *byte = guest_byte(address + i);

		if (!byte)
			return false;
		((uint8_t *)ret)[i] = *byte;
	}
	return true;
}

static const struct guest guest = { .read = guest_read };

static inline void guest_put(uint64_t address, const void *data, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (!guest_byte(address + i)) {
			CHECK(guest_n_pages < GUEST_PAGES);
			guest_pages[guest_n_pages++].address = (address + i) & ~(uint64_t)(GUEST_PAGE - 1);
		}
		*guest_byte(address + i) = ((const uint8_t *)data)[i];
	}
}

static inline void guest_put_word(uint64_t address, uint64_t value)
{
	guest_put(address, &value, sizeof value);
}

static inline void guest_put_text(uint64_t address, const char *text)
{
	guest_put(address, text, strlen(text) + 1);
}

static inline void guest_clear(void)
{
	memset(guest_pages, 0, sizeof guest_pages);
	guest_n_pages = 0;
}

#endif
