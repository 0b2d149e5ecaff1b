/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks QEMU for random numbers as its helpers for rdrand, RNDR and `seed` do. */
#include "random_row.h"

#include <errno.h>

#include "symbols.h"

int random_row_open(char *message, size_t message_size, struct random_row *ret)
{
	const struct wanted_symbol wanted[] = { { "qemu_guest_getrandom", &ret->draw } };

	return symbols_find(wanted, sizeof wanted / sizeof *wanted, message, message_size);
}

int random_row_pass(const struct random_row *row, uint64_t count, size_t size)
{
	uint64_t number;

	if (size > sizeof number)
		return -EIO;
	for (; count; count--)
		if (row->draw(&number, size, NULL))
			return -EIO;
	return 0;
}
