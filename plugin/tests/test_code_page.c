/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests that the function which tells physical pages is tried first, and refused where it tells something else. */
#include "internals/code_page.h"

#include <errno.h>
#include <string.h>

#include "check.h"

static enum { TELLS, TELLS_NOTHING, TELLS_ALWAYS_ONE, TELLS_OFFSETS } qemu;
void *current_cpu;

uint64_t cpu_get_phys_page_debug(void *cpu, uint64_t address);

uint64_t cpu_get_phys_page_debug(void *cpu, uint64_t address)
{
	CHECK(cpu == current_cpu);
	switch (qemu) {
	case TELLS:
		return address >= UINT64_C(1) << 47 ? ~UINT64_C(0) : address & 0xffffffff;
	case TELLS_NOTHING:
		return ~UINT64_C(0);
	case TELLS_ALWAYS_ONE:
		return 0xfffff000;
	case TELLS_OFFSETS:
		return address & 0xfff;
	}
	return 0;
}

int main(void)
{
	struct code_pages pages;
	char message[128];
	uint64_t page;

	current_cpu = NULL;
	CHECK(code_pages_open(0xfffffff0, message, sizeof message, &pages) == -ENOTSUP && strstr(message, "current_cpu"));
	current_cpu = &pages;
	CHECK(code_pages_open(0xfffffff0, message, sizeof message, &pages) == 0);
	CHECK(code_page_find(&pages, 0x123456789, &page) && page == 0x23456000);
	CHECK(!code_page_find(&pages, UINT64_C(1) << 47, &page));
	for (qemu = TELLS_NOTHING; qemu <= TELLS_OFFSETS; qemu++)
		CHECK(code_pages_open(0xfffffff0, message, sizeof message, &pages) == -ENOTSUP && strstr(message, "physical"));
	puts("test_code_page: ok");
	return 0;
}
