/* SPDX-License-Identifier: MIT */
/* Whether anybody else needs the disk or the memory: then nothing is read for what may never come. */
#ifndef BOOTLAB_PRELOAD_DEMAND_H
#define BOOTLAB_PRELOAD_DEMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct demand {
	char disk[64];     /* its file of counts, of the file system's own device */
	int64_t sectors;   /* read from it, as last looked at */
	int64_t own_bytes; /* of them ours */
	int memory;        /* a descriptor that is ready when memory is short; -1: the kernel does not tell */
	int64_t least_kib; /* of memory that must stay available */
};

/* For the file system of the folder `root`. Always works: what a kernel cannot tell is not looked at. */
void demand_begin(struct demand *demand, int root);
void demand_end(struct demand *demand);

/* Whether memory is short now: somebody waited for some within the last second, or less is available than must be. */
bool demand_of_memory(const struct demand *demand);

/* Bytes that others read from the disk since the last call. What this process had read is not counted. */
int64_t demand_of_disk(struct demand *demand);

/* As /proc/meminfo and a device's `stat` have them; -1 where the text is none. For tests. */
int64_t available_kib(const char *text);
int64_t sectors_read(const char *text);

#endif
