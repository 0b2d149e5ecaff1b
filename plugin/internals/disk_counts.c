/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds where QEMU counts what its disks were asked for, by having it count a read of our own. */
#include "disk_counts.h"

#include <errno.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "symbols.h"

enum {
	/* enum BlockAcctType of QEMU's include/block/accounting.h, the same since 2011. */
	ACCOUNT_READ = 1,
	/* The counters have more than that: a lock, four words for each of six kinds, a histogram of each. */
	SEARCHED = 256,
	COOKIE = 256,
	/* No multiple of a sector: no device asks for that. */
	STRANGE = 12345671,
};

struct counting_functions {
	void *(*next_disk)(void *disk);
	const char *(*name_of)(void *disk);
	unsigned char *(*counters_of)(void *disk);
	void (*begin)(void *counters, void *cookie, int64_t bytes, int type);
	void (*end)(void *counters, void *cookie);
};

static uint64_t word(const unsigned char *counters, size_t at)
{
	uint64_t value;

	memcpy(&value, counters + at, sizeof value);
	return value;
}

/* Where the words are that a read of so many bytes has moved by that much, and by one. */
static bool find_places(const unsigned char *before, const unsigned char *after, struct disk_counts *ret)
{
	size_t bytes = 0, requests = 0;

	for (size_t at = 0; at < SEARCHED; at += sizeof(uint64_t)) {
		uint64_t moved = word(after, at) - word(before, at);

		if (moved == STRANGE) {
			ret->bytes_at = at;
			bytes++;
		} else if (moved == 1) {
			ret->requests_at = at;
			requests++;
		}
	}
	return bytes == 1 && requests == 1;
}

static int prove(const struct counting_functions *functions, unsigned char *counters, char *message, size_t message_size,
		 struct disk_counts *ret)
{
	static alignas(64) unsigned char cookie[COOKIE];
	unsigned char before[SEARCHED];

	memcpy(before, counters, SEARCHED);
	functions->begin(counters, cookie, STRANGE, ACCOUNT_READ);
	functions->end(counters, cookie);
	if (find_places(before, counters, ret))
		return 0;
	snprintf(message, message_size, "a read that QEMU accounts for does not show in its counters");
	return -ENOTSUP;
}

static int open_locked(const struct counting_functions *functions, char *message, size_t message_size, struct disk_counts *ret)
{
	int r = 0;

	for (void *disk = functions->next_disk(NULL); disk && !r; disk = functions->next_disk(disk)) {
		const char *name = functions->name_of(disk);

		if (!name || !*name)
			continue;
		if (ret->n == COUNTED_DISKS_MAX) {
			snprintf(message, message_size, "more than %d disks", COUNTED_DISKS_MAX);
			return -ENOTSUP;
		}
		ret->disks[ret->n].drive = name;
		ret->disks[ret->n].counters = functions->counters_of(disk);
		if (!ret->n)
			r = prove(functions, functions->counters_of(disk), message, message_size, ret);
		ret->n++;
	}
	return r;
}

int disk_counts_open(const struct qemu_lock *lock, char *message, size_t message_size, struct disk_counts *ret)
{
	struct counting_functions functions;
	struct disk_counts counts = { .n = 0 };
	struct disk_count first[COUNTED_DISKS_MAX];
	const struct wanted_symbol wanted[] = {
		{ "blk_all_next", &functions.next_disk },  { "blk_name", &functions.name_of },
		{ "blk_get_stats", &functions.counters_of }, { "block_acct_start", &functions.begin },
		{ "block_acct_done", &functions.end },
	};
	int r = symbols_find(wanted, sizeof wanted / sizeof *wanted, message, message_size);

	if (r)
		return r;
	lock_take(lock);
	r = open_locked(&functions, message, message_size, &counts);
	lock_give(lock);
	if (r)
		return r;
	disk_counts_read(&counts, first);
	for (size_t i = 0; i < counts.n; i++)
		counts.disks[i].zero = first[i];
	*ret = counts;
	return 0;
}

void disk_counts_read(const struct disk_counts *counts, struct disk_count *ret)
{
	for (size_t i = 0; i < counts->n; i++) {
		ret[i].bytes = word(counts->disks[i].counters, counts->bytes_at) - counts->disks[i].zero.bytes;
		ret[i].requests = word(counts->disks[i].counters, counts->requests_at) - counts->disks[i].zero.requests;
	}
}
