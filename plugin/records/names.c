/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the names of functions to the profile as they appear, and finds those again that have only a place. */
#include "names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CODES = 1 << 10 };

void names_init(struct profile_writer *writer, uint32_t first, struct names *ret)
{
	*ret = (struct names){ .writer = writer, .next = first };
}

void names_deinit(struct names *names)
{
	free(names->codes);
	names->codes = NULL;
	names->n_codes = names->codes_mask = 0;
}

uint32_t names_add(struct names *names, enum profile_space space, uint64_t address, const char *text)
{
	size_t size = strlen(text);
	const struct profile_name record = {
		.function = names->next,
		.space = (uint16_t)space,
		.text_size = size < UINT16_MAX ? (uint16_t)size : UINT16_MAX,
		.address = address,
	};

	profile_writer_add_text(names->writer, PROFILE_NAME, &record, sizeof record, text, record.text_size);
	return names->next++;
}

static struct code_name *find_code(struct names *names, uint64_t key)
{
	uint32_t i = (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & names->codes_mask;

	while (names->codes[i].number && names->codes[i].key != key)
		i = (i + 1) & names->codes_mask;
	return &names->codes[i];
}

static int grow_codes(struct names *names)
{
	struct code_name *old = names->codes;
	uint32_t n_old = old ? names->codes_mask + 1 : 0, n = old ? 2 * n_old : FIRST_CODES;
	struct code_name *grown = calloc(n, sizeof *grown);

	if (!grown)
		return -1;
	names->codes = grown;
	names->codes_mask = n - 1;
	for (uint32_t i = 0; i < n_old; i++)
		if (old[i].number)
			*find_code(names, old[i].key) = old[i];
	free(old);
	return 0;
}

uint32_t names_of_code(struct names *names, uint64_t key, const char *place, uint64_t at, uint32_t otherwise)
{
	struct code_name *code;
	char text[128];

	if (2 * names->n_codes >= names->codes_mask && grow_codes(names))
		return otherwise;
	code = find_code(names, key);
	if (!code->number) {
		snprintf(text, sizeof text, "%s@0x%" PRIx64, place, at);
		*code = (struct code_name){ key, names_add(names, SPACE_CODE, at, text) };
		names->n_codes++;
	}
	return code->number;
}
