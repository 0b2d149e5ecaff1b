/* SPDX-License-Identifier: MIT */
/*
 * Memory that is only ever taken, never given back: what the unit files say lives in one, from boot to shutdown.
 * PID 1 has no heap, so no allocation can fail once its units are read.
 */
#ifndef BOOTLAB_SHARED_ARENA_H
#define BOOTLAB_SHARED_ARENA_H

#include <stddef.h>

struct arena {
	char *bytes;
	size_t size, used;
};

/* Bytes as they are, aligned for anything, or NULL when the arena is full. */
void *arena_take(struct arena *arena, size_t size);

/* Give back all of the block taken last but its first `kept` bytes. */
void arena_keep(struct arena *arena, const void *last, size_t kept);

/* A copy with a NUL behind it, or NULL. */
const char *arena_text(struct arena *arena, const char *text, size_t size);

/* "ab" of "a" and "b", or NULL. */
const char *arena_join(struct arena *arena, const char *a, const char *b);

#endif
