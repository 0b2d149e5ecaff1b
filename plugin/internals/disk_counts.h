/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much the guest has read from each of QEMU's disks, as QEMU itself counts it (query-blockstats). No QEMU headers.
 *
 * Each device accounts for what it is asked: firmware, bootloader and kernel alike, whatever driver they read by. The counts
 * lie in a struct of QEMU's, and where in it is found out on this machine: a read that is accounted for by QEMU's own
 * functions, and that no device was asked for, has to show in one place of it.
 */
#ifndef BOOTLAB_DISK_COUNTS_H
#define BOOTLAB_DISK_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "lock.h"

enum { COUNTED_DISKS_MAX = 32 };

struct disk_count {
	uint64_t bytes, requests;
};

struct disk_counts {
	size_t n;
	struct {
		const char *drive;
		const unsigned char *counters;
		struct disk_count zero; /* what they said at first, the proof's read with it */
	} disks[COUNTED_DISKS_MAX]; /* those that have a name */
	size_t bytes_at, requests_at;
};

/*
 * Find the counters of all disks. From a vCPU's thread that runs the guest, before it has read anything.
 * 0, or -ENOTSUP with one line in `message`.
 */
int disk_counts_open(const struct qemu_lock *lock, char *message, size_t message_size, struct disk_counts *ret);

/* What was read since then, disk by disk: `ret` has room for `counts->n`. */
void disk_counts_read(const struct disk_counts *counts, struct disk_count *ret);

#endif
