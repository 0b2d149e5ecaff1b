/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose code an address is: the kernel's, a module's, a process's, or that of a stage before them. */
#ifndef BOOTLAB_PLACES_H
#define BOOTLAB_PLACES_H

#include "profile.h"

/*
 * The place of `address` as `vcpu` sees it now. `host` is where the code is in the host's memory, NULL if unknown. Every
 * address has a place.
 */
void place_find(struct profile *profile, const struct vcpu *vcpu, uint64_t address, const void *host, struct code_place *ret);

/* Whether an exception or interrupt begins at the block that starts there. */
bool place_enters(const struct config *config, const struct code_place *place);

/* An instruction. `address` is where it runs, and `next` the address behind it in terms of its place's; `thumb`: T32 code. */
struct instruction {
	const uint8_t *code;
	size_t size;
	uint64_t address, next;
	bool thumb;
};

/* What an instruction of `place` leaves behind for the next block, 0 for nothing. */
uint64_t place_mark(const struct profile *profile, const struct code_place *place, const struct instruction *instruction);

#endif
