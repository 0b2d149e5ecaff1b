/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gives numbers to functions that are not in the functions file, and writes each to the profile as it appears. */
#ifndef BOOTLAB_NAMES_H
#define BOOTLAB_NAMES_H

#include <stdint.h>

#include "profile_writer.h"

struct names {
	struct profile_writer *writer;
	uint32_t next;
	/* Those of SPACE_CODE, by key: an open hash table, never more than half full. */
	struct code_name {
		uint64_t key;
		uint32_t number; /* 0: free, since number 0 is a line of the functions file or the root */
	} *codes;
	uint32_t n_codes, codes_mask;
};

/* `first`: the first number to give. */
void names_init(struct profile_writer *writer, uint32_t first, struct names *ret);
void names_deinit(struct names *names);

/* A new number. `text` is cut to 65535 bytes; any byte may be in it. */
uint32_t names_add(struct names *names, enum profile_space space, uint64_t address, const char *text);

/*
 * The number of the code `at` a place, which has no symbol: a new one, `PLACE@0xAT`, the first time. `key` is no other code's.
 * When memory runs out it is `otherwise`.
 */
uint32_t names_of_code(struct names *names, uint64_t key, const char *place, uint64_t at, uint32_t otherwise);

#endif
