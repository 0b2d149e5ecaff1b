/* SPDX-License-Identifier: MIT */
/* A dm-verity device over a region: what is read through it has been compared with the tree, or is an error. */
#ifndef BOOTLAB_KEPT_VERITY_H
#define BOOTLAB_KEPT_VERITY_H

#include "plan.h"

enum { VERITY_PATH = 32 };

/*
 * Make the device `name` over `region`. With `restart` the kernel restarts the machine where a block is not what the tree says,
 * instead of an error for whoever reads it. 0 or -errno; `ret` is its device file.
 */
int verity_make(const char *name, const char *region, const struct plan *plan, int restart, char ret[VERITY_PATH]);

int verity_remove(const char *name);

#endif
