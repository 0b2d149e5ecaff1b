/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells the trace what the guest has read from its disks, wherever that has changed. */
#ifndef BOOTLAB_DISK_READS_H
#define BOOTLAB_DISK_READS_H

#include "internals/disk_counts.h"
#include "writer.h"

struct disk_reads {
	struct disk_counts counts;
	struct disk_count told[COUNTED_DISKS_MAX];
};

/* Ahead of a record: what was read up to it, where the trace has another figure. `now` is as of disk_counts_read(). */
void disk_reads_report(struct disk_reads *reads, const struct disk_count *now, struct writer *writer);

#endif
