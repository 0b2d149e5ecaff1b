/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that firmware loads at whatever page is free, each known by the first bytes of its code: which one an address is in. */
#ifndef BOOTLAB_PROGRAMS_H
#define BOOTLAB_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "guest_memory.h"

/* Where a program lies now; a later one in its place ends it. */
struct loaded_program {
	uint64_t start, size;
	size_t number; /* of its line in the config; of several with one name, of the first */
};

struct programs {
	const struct program *known; /* the config's */
	size_t n_known;
	struct loaded_program *loaded;
	size_t n_loaded;
	const struct program *loader; /* the last that began; NULL: none has */
};

void programs_init(const struct config *config, struct programs *ret);
void programs_deinit(struct programs *programs);

/* Code runs at `address`: where a program begins there, it is loaded. Without memory to note that, it is none. */
void programs_look(struct programs *programs, const struct guest *guest, uint64_t address);

/* The program that `address` is in; NULL: none is known to be there. */
const struct loaded_program *programs_find(const struct programs *programs, uint64_t address);

#endif
