/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a head over turning platters has done a command, and what the drive's cache does without it. */
#ifndef BOOTLAB_HEAD_H
#define BOOTLAB_HEAD_H

#include <stdbool.h>

#include "figures.h"

enum { DISK_EXTENTS_MAX = 1024 };

/* Sectors that the drive's cache has. */
struct disk_extent {
	uint64_t begin, end;
};

struct disk_head {
	uint64_t at; /* the sector in front of the head, where it came to rest */
	bool reads_on; /* it reads what follows, into the last extent of the cache */
	int64_t reads_on_from_ns; /* since then: the extent ended at `at` */
	struct disk_extent cache[DISK_EXTENTS_MAX]; /* the last one is the newest */
	size_t cached;
	uint64_t cached_sectors;
	struct disk_extent unwritten[DISK_EXTENTS_MAX];
	size_t n_unwritten;
	uint64_t unwritten_sectors;
	bool writes_back; /* the head writes what the cache holds, until busy_ns */
};

/* Whether the drive can do it at once, out of its cache or into it; then when it is done. */
bool disk_head_cached(struct disk_head *head, const struct disk_figures *figures, const struct disk_request *request, int64_t t_ns,
		      int64_t *ret);
/* When the head would stand in front of `sector` if it left at `t_ns`. */
int64_t disk_head_arrival(const struct disk_head *head, const struct disk_figures *figures, uint64_t sector, int64_t t_ns);
/* Moves the head; returns when it has passed all of the request. */
int64_t disk_head_read(struct disk_head *head, const struct disk_figures *figures, const struct disk_request *request, int64_t t_ns);
/* Writes back the extent that is reached soonest; returns when that is done. Only if there is one. */
int64_t disk_head_write_back(struct disk_head *head, const struct disk_figures *figures, int64_t t_ns);

#endif
