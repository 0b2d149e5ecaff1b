/* SPDX-License-Identifier: MIT */
/* Tests where the parts of another kernel find their place, what that one is told, and which kernels and machines are refused. */
#ifdef __x86_64__
#include "sleep/handover.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"

enum { PAGE = HANDOVER_PAGE, MIB = 1 << 20, TOLD_AT = 256 * MIB - HANDOVER_TOLD };
enum { SETUP_SECTS = 3, SETUP = (SETUP_SECTS + 1) * 512, KERNEL = SETUP + 5000, RAM = 1, RESERVED = 2 };

static char image[KERNEL], archive[10000], random_bytes[HANDOVER_SEED];
static struct boot_params own;
static struct handover plan;
static const struct slice none = { "", 0 };

static struct setup_header *header(void)
{
	return (struct setup_header *)(image + 0x1f1);
}

static void add_memory(uint64_t at, uint64_t size, uint32_t type)
{
	own.e820_table[own.e820_entries++] = (struct boot_e820_entry){ at, size, type };
}

/* A kernel as Debian's, and the memory of a PC with 256 MiB, in another order than that of its addresses. */
static void begin(void)
{
	memset(image, 0, sizeof image);
	memset(image + SETUP, 'k', sizeof image - SETUP);
	memset(archive, 'a', sizeof archive);
	memset(random_bytes, 'r', sizeof random_bytes);
	*header() = (struct setup_header){
		.setup_sects = SETUP_SECTS,
		.boot_flag = 0xaa55,
		.jump = 0x66eb,
		.header = 0x53726448,
		.version = 0x20f,
		.loadflags = LOADED_HIGH,
		.initrd_addr_max = 0x7fffffff,
		.kernel_alignment = 2 * MIB,
		.relocatable_kernel = 1,
		.xloadflags = XLF_KERNEL_64,
		.cmdline_size = 2047,
		.pref_address = 16 * MIB,
		.init_size = 40 * MIB + 5,
	};
	memset(&own, 0, sizeof own);
	add_memory(0x100000, 255 * MIB, RAM);
	add_memory(0, 0x9fc00, RAM);
	add_memory(0x9fc00, 0x400, RESERVED);
	add_memory(0xfeffc000, 0x4000, RESERVED);
	own.acpi_rsdp_addr = 0xf5a80;
	own.screen_info.orig_video_cols = 80;
	own.screen_info.ext_mem_k = 7;
	own.hdr.setup_data = 99;
	own.sentinel = 0xff;
	own.efi_info.efi_memmap = 5;
}

static int plan_with(const char *line)
{
	const struct slice kernel = { image, sizeof image }, files = { archive, sizeof archive };

	return handover_plan(kernel, files, line, &own, none, &plan);
}

static const struct boot_params *told(void)
{
	return (const struct boot_params *)(plan.told + PAGE);
}

static uint64_t number_at(size_t at)
{
	uint64_t n;

	memcpy(&n, plan.told + at, sizeof n);
	return n;
}

/* Whether the code that enters it has this number, which it loads. */
static bool stub_has(uint64_t n)
{
	for (size_t at = 0; at < 256; at++)
		if (number_at(at) == n)
			return true;
	return false;
}

static bool apart(void)
{
	for (size_t i = 0; i < plan.n; i++)
		for (size_t j = 0; j < i; j++) {
			const struct part *one = &plan.parts[i], *other = &plan.parts[j];

			if (one->at < other->at + other->room && other->at < one->at + one->room)
				return false;
		}
	return true;
}

static void test_each_part_has_its_place(void)
{
	CHECK(!plan_with("root=/dev/vda") && plan.n == 3 && apart());
	CHECK(plan.parts[0].at == 214 * MIB && plan.parts[0].room == 40 * MIB + PAGE);
	CHECK(plan.parts[0].bytes.at == image + SETUP && plan.parts[0].bytes.size == KERNEL - SETUP);
	CHECK(plan.parts[1].at == TOLD_AT && plan.parts[1].room == HANDOVER_TOLD && plan.parts[1].bytes.at == plan.told);
	CHECK(plan.parts[2].at == TOLD_AT - 3 * PAGE && plan.parts[2].room == 3 * PAGE && plan.parts[2].bytes.at == archive);
	CHECK(plan.entry == TOLD_AT && stub_has(214 * MIB + 0x200) && stub_has(TOLD_AT + PAGE));
}

static void test_the_kernel_is_told_of_its_machine_and_no_more(void)
{
	CHECK(!plan_with("root=/dev/vda quiet"));
	CHECK(told()->hdr.header == 0x53726448 && told()->hdr.type_of_loader == 0xff && told()->hdr.loadflags & LOADED_HIGH);
	CHECK(told()->hdr.cmd_line_ptr == TOLD_AT + 2 * PAGE && !strcmp(plan.told + 2 * PAGE, "root=/dev/vda quiet"));
	CHECK(told()->hdr.ramdisk_image == TOLD_AT - 3 * PAGE && told()->hdr.ramdisk_size == sizeof archive);
	CHECK(told()->e820_entries == own.e820_entries && !memcmp(told()->e820_table, own.e820_table, sizeof own.e820_table));
	CHECK(told()->acpi_rsdp_addr == 0xf5a80 && told()->screen_info.orig_video_cols == 80 && !told()->screen_info.ext_mem_k);
	CHECK(!told()->sentinel && !told()->efi_info.efi_memmap && !told()->hdr.setup_data);
}

static void test_random_numbers_come_along_where_there_are_all_of_them(void)
{
	const struct slice kernel = { image, sizeof image };
	struct slice seed = { random_bytes, sizeof random_bytes };

	CHECK(!handover_plan(kernel, none, "", &own, seed, &plan) && plan.n == 2);
	CHECK(!told()->hdr.ramdisk_image && !told()->hdr.ramdisk_size);
	/* A node of the list: no next one, type 9, its length, the bytes; in the first page, behind the code and below its stack. */
	CHECK(told()->hdr.setup_data == TOLD_AT + 2048 && number_at(2048) == 0 && number_at(2056) == ((uint64_t)HANDOVER_SEED << 32 | 9));
	CHECK(!memcmp(plan.told + 2064, random_bytes, sizeof random_bytes));
	seed.size--;
	CHECK(!handover_plan(kernel, none, "", &own, seed, &plan) && !told()->hdr.setup_data);
}

static void test_what_is_no_ram_is_passed_over(void)
{
	add_memory(255 * MIB + 100, 300, RESERVED);
	add_memory(250 * MIB, PAGE, RESERVED);
	add_memory(256u * MIB - 0x800, 0x800, 3);
	CHECK(!plan_with("") && plan.parts[0].at == 208 * MIB && apart());
	CHECK(plan.parts[1].at == TOLD_AT - PAGE && plan.parts[2].at == TOLD_AT - 4 * PAGE);
	/* Amid all of it there is nothing left. */
	add_memory(MIB, 254 * MIB, RESERVED);
	CHECK(plan_with("") == -ENOSPC);
}

static void test_a_kernel_that_lies_only_where_it_wants_to_lies_there(void)
{
	header()->relocatable_kernel = 0;
	CHECK(!plan_with("") && plan.parts[0].at == 16 * MIB);
	add_memory(17 * MIB, PAGE, RESERVED);
	CHECK(plan_with("") == -ENOSPC);
}

static void test_a_machine_without_room_is_refused(void)
{
	header()->init_size = 256u * MIB;
	CHECK(plan_with("") == -ENOSPC);
	/* Behind the fourth GiB there is some, of which no part is to be. */
	add_memory(UINT64_C(4096) * MIB, UINT64_C(4096) * MIB, RAM);
	CHECK(plan_with("") == -ENOSPC);
	header()->init_size = 40 * MIB;
	header()->initrd_addr_max = MIB;
	CHECK(plan_with("") == -ENOSPC);
	own.e820_entries = 0;
	CHECK(plan_with("") == -ENOSPC);
}

static void test_a_span_that_ends_beyond_all_addresses_does_no_harm(void)
{
	add_memory(UINT64_MAX - 0x1000, 0x2000, RAM);
	add_memory(UINT64_MAX - 0x1000, 0x2000, RESERVED);
	CHECK(!plan_with("") && plan.parts[0].at == 214 * MIB);
}

static void test_a_command_line_has_the_length_that_the_kernel_takes(void)
{
	static char line[5000];

	memset(line, 'x', 2047);
	CHECK(!plan_with(line) && !strcmp(plan.told + 2 * PAGE, line));
	line[2047] = 'x';
	CHECK(plan_with(line) == -E2BIG);
	header()->cmdline_size = 10000;
	CHECK(!plan_with(line));
	memset(line, 'x', HANDOVER_PAGE);
	CHECK(plan_with(line) == -E2BIG);
}

static void test_what_is_no_kernel_for_this_entry_is_refused(void)
{
	const struct slice text = { archive, sizeof archive };
	struct slice cut = { image, SETUP };

	CHECK(handover_plan(text, none, "", &own, none, &plan) == -ENOEXEC && handover_plan(none, none, "", &own, none, &plan) == -ENOEXEC);
	CHECK(handover_plan(cut, none, "", &own, none, &plan) == -ENOEXEC);
	header()->setup_sects = 20;
	CHECK(plan_with("") == -ENOEXEC);
	header()->setup_sects = 0; /* which stands for four */
	CHECK(!plan_with("") && plan.parts[0].bytes.at == image + 5 * 512);
	header()->kernel_alignment = 0;
	CHECK(plan_with("") == -ENOEXEC);
	header()->kernel_alignment = 4096;
	header()->xloadflags = XLF_CAN_BE_LOADED_ABOVE_4G;
	CHECK(plan_with("") == -ENOEXEC);
	header()->xloadflags = XLF_KERNEL_64;
	header()->version = 0x20b;
	CHECK(plan_with("") == -ENOEXEC);
}

int main(void)
{
	void (*const tests[])(void) = {
		test_each_part_has_its_place,
		test_the_kernel_is_told_of_its_machine_and_no_more,
		test_random_numbers_come_along_where_there_are_all_of_them,
		test_what_is_no_ram_is_passed_over,
		test_a_kernel_that_lies_only_where_it_wants_to_lies_there,
		test_a_machine_without_room_is_refused,
		test_a_span_that_ends_beyond_all_addresses_does_no_harm,
		test_a_command_line_has_the_length_that_the_kernel_takes,
		test_what_is_no_kernel_for_this_entry_is_refused,
	};

	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		begin();
		tests[i]();
	}
	return 0;
}
#else
int main(void)
{
	return 0;
}
#endif
