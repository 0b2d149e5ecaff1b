/* SPDX-License-Identifier: MIT */
/* The account of this boot, in memory; account_format.h says how it looks outside. */
#ifndef BOOTLAB_INIT_ACCOUNT_H
#define BOOTLAB_INIT_ACCOUNT_H

#include <stddef.h>

#include "account_format.h"
#include "units/units.h"

void account_begin(int64_t begun_ns);

/* There are so many units: keep room for what happens to each. */
void account_expect(size_t n_units);

void account_add(enum account_kind kind, unit_id unit, uint32_t pid, uint8_t detail, uint64_t value);

/* The whole account as bytes; their number, or 0 when `size` is too small. */
size_t account_write(const struct units *units, char *ret, size_t size);

#endif
