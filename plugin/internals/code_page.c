/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks QEMU's debugger for physical addresses, once it is proved that it tells them. */
#include "code_page.h"

#include <errno.h>
#include <stdio.h>

#include "symbols.h"

static const uint64_t PAGE_MASK = ~UINT64_C(0xfff), NO_PAGE = ~UINT64_C(0);

int code_pages_open(uint64_t address, char *message, size_t message_size, struct code_pages *ret)
{
	struct code_pages pages;
	const struct wanted_symbol wanted[] = {
		{ "cpu_get_phys_page_debug", &pages.find },
		{ "current_cpu", &pages.cpu },
	};
	int r = symbols_find(wanted, sizeof wanted / sizeof *wanted, message, message_size);

	if (r)
		return r;
	if (!*pages.cpu) {
		snprintf(message, message_size, "current_cpu is not set where the guest runs");
		return -ENOTSUP;
	}
	/* The page of the code, and another one: what would return its argument's offset, or always the same, is found out. */
	if (pages.find(*pages.cpu, address & PAGE_MASK) != (address & PAGE_MASK) || pages.find(*pages.cpu, 0x5000) != 0x5000) {
		snprintf(message, message_size, "cpu_get_phys_page_debug does not tell physical pages");
		return -ENOTSUP;
	}
	*ret = pages;
	return 0;
}

bool code_page_find(const struct code_pages *pages, uint64_t address, uint64_t *ret)
{
	uint64_t page = pages->find(*pages->cpu, address & PAGE_MASK);

	*ret = page & PAGE_MASK;
	return page != NO_PAGE;
}
