/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds programs where they begin to run, and remembers where each lies. */
#include "programs.h"

#include <stdlib.h>
#include <string.h>

/* What UEFI loads, it loads to whole pages, and what runs from flash is aligned within its volume. */
static const uint64_t PAGE = UINT64_C(1) << 12;

void programs_init(const struct config *config, struct programs *ret)
{
	*ret = (struct programs){ .known = config->programs, .n_known = config->n_programs };
}

void programs_deinit(struct programs *programs)
{
	free(programs->loaded);
	programs->loaded = NULL;
	programs->n_loaded = 0;
}

static bool begins(const struct program *program, const struct guest *guest, uint64_t address)
{
	uint8_t bytes[TRACE_CODE_MAX];

	return (address - program->entry) % PAGE == 0 && guest->read(address, bytes, program->code.size) &&
	       code_matches(&program->code, bytes, program->code.size);
}

/* One program has lines for each place that its entry may have in a page. */
static size_t first_of_name(const struct programs *programs, size_t number)
{
	for (size_t i = 0; i < number; i++)
		if (!strcmp(programs->known[i].name, programs->known[number].name))
			return i;
	return number;
}

static void load(struct programs *programs, const struct loaded_program *program)
{
	struct loaded_program *grown;
	size_t kept = 0;

	for (size_t i = 0; i < programs->n_loaded; i++) {
		const struct loaded_program *one = &programs->loaded[i];

		if (one->start >= program->start + program->size || program->start >= one->start + one->size)
			programs->loaded[kept++] = *one;
	}
	programs->n_loaded = kept;
	grown = realloc(programs->loaded, (kept + 1) * sizeof *grown);
	if (!grown)
		return;
	programs->loaded = grown;
	programs->loaded[programs->n_loaded++] = *program;
}

void programs_look(struct programs *programs, const struct guest *guest, uint64_t address)
{
	for (size_t i = 0; i < programs->n_known; i++)
		if (begins(&programs->known[i], guest, address)) {
			const struct program *known = &programs->known[i];

			if (known->loads)
				programs->loader = known;
			load(programs, &(struct loaded_program){ address - known->before, known->size, first_of_name(programs, i) });
			return;
		}
}

const struct loaded_program *programs_find(const struct programs *programs, uint64_t address)
{
	for (size_t i = 0; i < programs->n_loaded; i++)
		if (address - programs->loaded[i].start < programs->loaded[i].size)
			return &programs->loaded[i];
	return NULL;
}
