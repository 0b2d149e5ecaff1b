/* SPDX-License-Identifier: MIT */
/* Hands out tables from one stretch of memory, and tells the kernel which memory a fork does not take along. */
#include "own.h"

#include <sys/mman.h>
#include <unistd.h>

/* In one place, since each stretch between two of them would be another mapping to copy. Pages that nothing touches are not there. */
enum { TABLE_BYTES = 40 << 20, CHILD_BYTES = 8 << 20, ALIGNMENT = 16, STRETCHES = 4, LARGE_TABLE_BYTES = 1 << 20 };

struct stretch {
	char *bytes;
	size_t size, used, large; /* `large` of `used` are at the end */
};

static struct stretch tables = { .size = TABLE_BYTES }, childs = { .size = CHILD_BYTES };
static struct stretch kept[STRETCHES];
static int is_kept;

/* Of no machine's memory is anything set aside for what is not touched, however small that machine is. */
static void *map(size_t size, int sharing)
{
	void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return mapped == MAP_FAILED ? NULL : mapped;
}

static void *take(struct stretch *stretch, size_t size)
{
	if (!stretch->bytes)
		stretch->bytes = map(stretch->size, MAP_PRIVATE);
	size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	/* The tables are as large as the source says: the first test would have met this. */
	if (!stretch->bytes || stretch->used + size > stretch->size)
		__builtin_trap();
	stretch->used += size;
	/* Large ones from the end: the first pages of the small ones, mostly all that is touched, share a page table. */
	if (size >= LARGE_TABLE_BYTES)
		return stretch->bytes + stretch->size - (stretch->large += size);
	return stretch->bytes + stretch->used - stretch->large - size;
}

void *own_take(size_t size)
{
	return take(&tables, size);
}

void *own_room_of_child(size_t size)
{
	return take(&childs, size);
}

static void advise(int advice)
{
	/* Where that is refused nothing but time is lost. */
	for (size_t i = 0; is_kept && i < STRETCHES; i++)
		if (kept[i].bytes)
			madvise(kept[i].bytes, kept[i].size, advice);
}

static struct stretch *find_kept(const void *bytes)
{
	for (size_t i = 0; i < STRETCHES; i++)
		if (kept[i].bytes == bytes)
			return &kept[i];
	return NULL;
}

void *own_map(size_t size, bool is_shared)
{
	struct stretch *stretch = find_kept(NULL);
	char *bytes = stretch ? map(size, is_shared ? MAP_SHARED : MAP_PRIVATE) : NULL;

	if (!bytes)
		return NULL;
	*stretch = (struct stretch){ .bytes = bytes, .size = size };
	advise(MADV_DONTFORK);
	return bytes;
}

void own_unmap(void *bytes)
{
	struct stretch *stretch = bytes ? find_kept(bytes) : NULL;

	if (!stretch)
		return;
	munmap(stretch->bytes, stretch->size);
	stretch->bytes = NULL;
}

void own_keep(void)
{
	struct stretch *stretch = find_kept(NULL);

	if (stretch)
		*stretch = tables;
	is_kept = 1;
	advise(MADV_DONTFORK);
	/* A child finds its room where it looks for it. Mapped only now it is no part of theirs, and has no page table to be copied. */
	own_room_of_child(0);
}

pid_t own_fork(void)
{
	pid_t pid;

	advise(MADV_DOFORK);
	pid = fork();
	if (pid != 0)
		advise(MADV_DONTFORK);
	return pid;
}
