/* SPDX-License-Identifier: MIT */
/* Which order of reading serves this machine best, and whether any does: each is tried for some boots, and none is one of them. */
#ifndef BOOTLAB_READAHEAD_TRIALS_H
#define BOOTLAB_READAHEAD_TRIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/text.h"

enum order {
	ORDER_NONE,  /* nothing is read ahead */
	ORDER_BLOCK, /* as it lies on the disk: for what turns */
	ORDER_NEED,  /* as the boot asks for it: for what does not */
	N_ORDERS
};

enum { TRIALS_EACH = 3 };

struct trials {
	int64_t ns[N_ORDERS][TRIALS_EACH]; /* from the kernel's start to the goal */
	size_t n[N_ORDERS];
};

const char *order_name(enum order order);
/* 0 or -EINVAL. */
int order_parse(struct slice name, enum order *ret);

/* 0, or -EINVAL when that order has all its boots. */
int trials_add(struct trials *trials, enum order order, int64_t ns);

bool trials_are_over(const struct trials *trials);

/*
 * The order of the next boot: in turns, until each had its boots. Then the one with the lowest median, if each of its boots was
 * shorter than every boot without: a machine that waits for its CPU, or whose boots vary by more than is gained, gets none.
 */
enum order trials_next(const struct trials *trials);

#endif
