/* SPDX-License-Identifier: MIT */
/* The region of kept RAM as the kernel shows it: a pmem device, known by the physical address at which it begins. */
#ifndef BOOTLAB_KEPT_REGION_H
#define BOOTLAB_KEPT_REGION_H

#include <stddef.h>

#include "plan.h"

enum { REGION_PATH = 32 };

/* 0; -ENODEV: the kernel shows none there; -EINVAL: it has another size. `ret` is its device file. */
int region_find(const struct plan *plan, char ret[REGION_PATH]);

/* Of the header in the last block of the device; 0 or -errno, as header_read. */
int region_read_header(const char *device, const struct plan *plan, struct header *ret);

/* Written through every cache that there is. 0 or -errno. */
int region_write_header(const char *device, const struct plan *plan, const struct header *header);

/* Copy all of the plan's bytes from `disk` into the region; `half` is called once, half way. 0 or -errno. */
int region_fill(const char *device, const char *disk, const struct plan *plan, void (*half)(void));

/* Read `bytes` of a device and throw them away: 0 when all can be read. */
int region_read_all(const char *device, uint64_t bytes);

#endif
