/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks QEMU for random numbers as its helpers for rdrand, RNDR and `seed` do. */
#include "random_row.h"

#include <errno.h>
#include <stdlib.h>

#include "symbols.h"

int random_row_open(char *message, size_t message_size, struct random_row *ret)
{
	const struct wanted_symbol wanted[] = { { "qemu_guest_getrandom", &ret->draw } };

	return symbols_find(wanted, sizeof wanted / sizeof *wanted, message, message_size);
}

int random_row_read(FILE *file, uint64_t instructions, uint64_t *ret)
{
	char digits[20], end;
	uint64_t count;

	if (fscanf(file, "%19[0-9]%c", digits, &end) != 2 || end != '\n' || fgetc(file) != EOF)
		return -EINVAL;
	count = strtoull(digits, NULL, 10);
	if (count > instructions)
		return -EINVAL;
	*ret = count;
	return 0;
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
