/* SPDX-License-Identifier: MIT */
/* Hands out tables from one stretch of memory, and tells the kernel which memory a fork does not take along. */
#include "own.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* In one place, since each stretch between two of them would be another mapping to copy. Pages that nothing touches are not there. */
enum { TABLE_BYTES = 40 << 20, CHILD_BYTES = 7 << 20, ALIGNMENT = 16, RANGES = 4 };

static char tables[TABLE_BYTES] __attribute__((aligned(4096))), room_of_child[CHILD_BYTES] __attribute__((aligned(16)));

/* Not behind them: what is written to lies together, in as few page tables as can be. */
__attribute__((section(".data")))
static struct {
	size_t used, used_of_child, n_ranges;
	struct {
		char *begin, *end;
	} ranges[RANGES];
} given;

static void *take(char *bytes, size_t most, size_t *taken, size_t size)
{
	void *ret = bytes + *taken;

	*taken += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	/* The tables are as large as the source says: the first test would have met this. */
	if (*taken > most)
		__builtin_trap();
	return ret;
}

void *own_take(size_t size)
{
	return take(tables, sizeof tables, &given.used, size);
}

void *own_room_of_child(size_t size)
{
	return take(room_of_child, sizeof room_of_child, &given.used_of_child, size);
}

static void advise(int advice)
{
	for (size_t i = 0; i < given.n_ranges; i++)
		/* Where that is refused nothing but time is lost. */
		madvise(given.ranges[i].begin, (size_t)(given.ranges[i].end - given.ranges[i].begin), advice);
}

void own_keep_bytes(void *bytes, size_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = ((uintptr_t)bytes + page - 1) / page * page;
	uintptr_t end = ((uintptr_t)bytes + size) / page * page;

	if (given.n_ranges == RANGES || begin >= end)
		return;
	given.ranges[given.n_ranges].begin = (char *)begin;
	given.ranges[given.n_ranges++].end = (char *)end;
	advise(MADV_DONTFORK);
}

void own_keep(void)
{
	own_keep_bytes(tables, sizeof tables);
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
