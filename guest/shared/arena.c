/* SPDX-License-Identifier: MIT */
/* Takes memory and texts from one block that is never given back. */
#include "arena.h"

#include <string.h>

enum { ALIGN = 8 };

void *arena_take(struct arena *arena, size_t size)
{
	void *taken = arena->bytes + arena->used;

	if (size > arena->size || (size + ALIGN - 1) / ALIGN * ALIGN > arena->size - arena->used)
		return NULL;
	arena->used += (size + ALIGN - 1) / ALIGN * ALIGN;
	return taken;
}

void arena_keep(struct arena *arena, const void *last, size_t kept)
{
	arena->used = (size_t)((const char *)last - arena->bytes) + (kept + ALIGN - 1) / ALIGN * ALIGN;
}

const char *arena_text(struct arena *arena, const char *text, size_t size)
{
	char *copy = arena_take(arena, size + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, size);
	copy[size] = '\0';
	return copy;
}

const char *arena_join(struct arena *arena, const char *a, const char *b)
{
	size_t first = strlen(a), second = strlen(b);
	char *copy = arena_take(arena, first + second + 1);

	if (!copy)
		return NULL;
	memcpy(copy, a, first);
	memcpy(copy + first, b, second + 1);
	return copy;
}
