/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a disk's line where what was read from it is not what the trace was told last. */
#include "disk_reads.h"

void disk_reads_report(struct disk_reads *reads, const struct disk_count *now, struct writer *writer)
{
	for (size_t i = 0; i < reads->counts.n; i++) {
		if (now[i].bytes == reads->told[i].bytes && now[i].requests == reads->told[i].requests)
			continue;
		writer_reads(writer, reads->counts.disks[i].drive, now[i].bytes, now[i].requests);
		reads->told[i] = now[i];
	}
}
