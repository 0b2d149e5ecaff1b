/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads pointers and strings out of the guest kernel's memory. */
#include "guest_memory.h"

#include <string.h>

bool guest_read_pointer(const struct guest *guest, uint64_t address, uint64_t *ret)
{
	uint64_t value = 0;

	if (!address || !guest->read(address, &value, guest_pointer_size(guest)))
		return false;
	*ret = value;
	return true;
}

void guest_read_string(const struct guest *guest, uint64_t address, char *ret, size_t size)
{
	enum { STEP = 32 };
	size_t got = 0;

	while (address && got < size - 1) {
		size_t step = STEP - (address + got) % STEP; /* never across a page */

		if (step > size - 1 - got)
			step = size - 1 - got;
		if (!guest->read(address + got, ret + got, step))
			break;
		got += step;
		if (memchr(ret + got - step, '\0', step))
			break;
	}
	ret[got] = '\0';
	for (char *c = ret; *c; c++)
		if ((unsigned char)*c < ' ' || *c == '\177')
			*c = '?';
}
