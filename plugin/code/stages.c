/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells which stage before the kernel an address belongs to, also after a bootloader has moved itself. */
#include "stages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const stage_names[STAGE_KINDS] = { "[firmware]", "[loader]",  "[decompressor]", "[startup]",
						      "[SPL]",	    "[OpenSBI]", "[U-Boot]" };

static int read_symbols(const char *path, char *message, size_t message_size, struct stage *stage)
{
	int r = functions_open(path, message, message_size, &stage->functions);

	if (r)
		return r;
	stage->numbers = calloc(stage->functions.count, sizeof *stage->numbers);
	if (stage->numbers)
		return 0;
	snprintf(message, message_size, "%s: out of memory", path);
	return -ENOMEM;
}

int stages_init(const struct config *config, struct names *names, char *message, size_t message_size, struct stages *ret)
{
	int r = 0;

	*ret = (struct stages){ .names = names };
	programs_init(config, &ret->programs);
	for (int i = 0; i < STAGE_KINDS && !r; i++) {
		ret->kinds[i].number = names_add(names, SPACE_STAGE, 0, stage_names[i]);
		for (size_t k = 0; k < config->n_objects && !r; k++)
			if (!strcmp(config->objects[k].name, stage_names[i]) && !ret->kinds[i].numbers)
				r = read_symbols(config->objects[k].path, message, message_size, &ret->kinds[i]);
	}
	if (r)
		stages_deinit(ret);
	return r;
}

void stages_deinit(struct stages *stages)
{
	programs_deinit(&stages->programs);
	for (int i = 0; i < STAGE_KINDS; i++) {
		functions_deinit(&stages->kinds[i].functions);
		free(stages->kinds[i].numbers);
		stages->kinds[i].numbers = NULL;
	}
}

bool stages_begin(const char *mark, enum stage_kind *ret)
{
	/* As bootlab/timeline/marks.py names them. */
	static const struct {
		const char *mark;
		enum stage_kind kind;
	} images[] = {
		{ "boot_sector", STAGE_LOADER },
		{ "loader_entry", STAGE_LOADER },
		{ "spl_entry", STAGE_SPL },
		{ "opensbi_entry", STAGE_OPENSBI },
		{ "uboot_entry", STAGE_UBOOT },
		{ "image_entry", STAGE_DECOMPRESSOR },
	};

	for (size_t i = 0; i < sizeof images / sizeof *images; i++)
		if (!strcmp(images[i].mark, mark)) {
			*ret = images[i].kind;
			return true;
		}
	return false;
}

void stages_look(struct stages *stages, const struct guest *guest, uint64_t address)
{
	programs_look(&stages->programs, guest, address);
}

void stages_move(struct stages *stages, enum stage_kind kind, uint64_t distance)
{
	stages->kinds[kind].moved = distance;
}

void stages_find(struct stages *stages, enum stage_kind kind, uint64_t address, struct code_place *ret)
{
	struct stage *stage = &stages->kinds[kind];
	uint32_t line;
	char text[256];

	/* Not all of it may have: the code for the secure world has a place of its own. */
	if (stage->moved && functions_find(&stage->functions, address - stage->moved, &line))
		address -= stage->moved;
	*ret = (struct code_place){ .function = stage->number, .address = address, .flags = CODE_STAGE | CODE_ANONYMOUS };
	if (!functions_find(&stage->functions, address, &line))
		return;
	if (!stage->numbers[line]) {
		snprintf(text, sizeof text, "%s %s", stage->functions.names[line], stage_names[kind]);
		stage->numbers[line] = names_add(stages->names, SPACE_CODE, stage->functions.addresses[line], text);
	}
	ret->function = stage->numbers[line];
	ret->flags = CODE_STAGE | (stage->functions.addresses[line] == address ? CODE_START : 0);
}

/* Of code of a program, wherever that is loaded: no physical address is as high. */
static uint64_t program_key(size_t program, uint64_t at)
{
	return (uint64_t)(program + 1) << 52 | at;
}

/* In a program; or in none that is known, and then whatever the last loader has brought along: modules, a kernel. */
static uint32_t called_by_firmware(struct stages *stages, const struct code_place *place)
{
	const struct programs *programs = &stages->programs;
	const struct loaded_program *program = programs_find(programs, place->address);
	char text[TRACE_NAME_MAX + 16];
	uint64_t at;

	if (program) {
		at = place->address - program->start;
		return names_of_code(stages->names, program_key(program->number, at), programs->known[program->number].name, at,
				     place->function);
	}
	if (!programs->loader)
		return names_of_code(stages->names, place->address, "firmware", place->address, place->function);
	snprintf(text, sizeof text, "loaded by %s", programs->loader->name);
	return names_of_code(stages->names, program_key((size_t)(programs->loader - programs->known), place->address), text,
			     place->address, place->function);
}

uint32_t stages_called(struct stages *stages, const struct code_place *place)
{
	static const char *const places[STAGE_KINDS] = { "firmware", "loader", "decompressor", "startup", "SPL", "OpenSBI", "U-Boot" };

	if (stages->kinds[STAGE_FIRMWARE].number == place->function && stages->programs.n_loaded)
		return called_by_firmware(stages, place);
	for (int i = 0; i < STAGE_KINDS; i++)
		if (stages->kinds[i].number == place->function)
			return names_of_code(stages->names, place->address, places[i], place->address, place->function);
	return place->function;
}
