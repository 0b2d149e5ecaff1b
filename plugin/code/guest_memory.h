/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest kernel's structs and strings, read where they are. */
#ifndef BOOTLAB_GUEST_MEMORY_H
#define BOOTLAB_GUEST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads of the guest's memory at virtual addresses of the moment; false: nothing is mapped there. */
struct guest {
	bool (*read)(uint64_t address, void *ret, size_t size);
	bool narrow; /* its pointers have 32 bits */
};

static inline size_t guest_pointer_size(const struct guest *guest)
{
	return guest->narrow ? 4 : 8;
}

/* False, and no value, for a NULL `address` too. */
bool guest_read_pointer(const struct guest *guest, uint64_t address, uint64_t *ret);

/* Whatever of a string is mapped, cut to size - 1; an empty one if nothing is. Control characters become `?`. */
void guest_read_string(const struct guest *guest, uint64_t address, char *ret, size_t size);

#endif
