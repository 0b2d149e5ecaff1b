/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What runs before the kernel: firmware, a board's bootloader, the decompressor, a vCPU on its way to the kernel. */
#ifndef BOOTLAB_STAGES_H
#define BOOTLAB_STAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code_map.h"
#include "config/config.h"
#include "functions.h"
#include "guest_memory.h"
#include "programs.h"
#include "records/names.h"

enum stage_kind {
	STAGE_FIRMWARE,
	STAGE_LOADER, /* what BIOS starts */
	STAGE_DECOMPRESSOR,
	STAGE_STARTUP,
	STAGE_SPL,
	STAGE_OPENSBI,
	STAGE_UBOOT,
	STAGE_KINDS
};

struct stages {
	struct names *names;
	struct programs programs; /* of firmware, and what it starts */
	struct stage {
		uint32_t number; /* of the function that stands for all its code */
		struct functions functions; /* by physical address; empty: no symbols */
		uint32_t *numbers; /* one per line, 0: not given yet */
		uint64_t moved;	   /* how far from there it runs, modulo 2**64 */
	} kinds[STAGE_KINDS];
};

/* Reads the objects of stages that `config` names. Returns 0, or a negative errno with one line in `message`. */
int stages_init(const struct config *config, struct names *names, char *message, size_t message_size, struct stages *ret);
void stages_deinit(struct stages *stages);

/* Whether a stage begins where the image is entered whose mark is `mark`, and which. */
bool stages_begin(const char *mark, enum stage_kind *ret);
/* Code of a stage runs at `address`: it may be a program's first. */
void stages_look(struct stages *stages, const struct guest *guest, uint64_t address);
/* The stage's code moves itself by `distance`, modulo 2**64. */
void stages_move(struct stages *stages, enum stage_kind kind, uint64_t distance);

/*
 * The place of a physical address. Every one has a place, CODE_ANONYMOUS if no symbol is known. Of code that has moved it is
 * where it was.
 */
void stages_find(struct stages *stages, enum stage_kind kind, uint64_t address, struct code_place *ret);

/* The function that is called at an anonymous place: without symbols, a function is what is called, in a program or none. */
uint32_t stages_called(struct stages *stages, const struct code_place *place);

#endif
