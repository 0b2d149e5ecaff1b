/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's own functions and variables by their exported names: what its plugin interface does not offer. No QEMU headers.
 *
 * QEMU programs export them for QEMU's own loadable modules. That is not a stable interface: each part of this folder looks
 * up by name what it needs, proves on this very machine that it does what is believed of it, and refuses with one sentence
 * where a name is missing or a proof fails. No place inside any of QEMU's structs is ever assumed.
 */
#ifndef BOOTLAB_SYMBOLS_H
#define BOOTLAB_SYMBOLS_H

#include <stddef.h>

/* A name, and the pointer to a function or variable that it is to fill. */
struct wanted_symbol {
	const char *name;
	void *pointer;
};

/* One symbol into a pointer of any type; NULL where QEMU does not export it. */
void symbol_find(const char *name, void *ret);

/* All of them. 0, or -ENOTSUP with "this QEMU does not export A, B" in `message`. */
int symbols_find(const struct wanted_symbol *wanted, size_t count, char *message, size_t message_size);

/* The bytes of the exported variable at `address`; 0 where that cannot be told. */
size_t symbol_size(const void *address);

#endif
