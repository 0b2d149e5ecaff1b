/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which code an address is, wherever the kernel runs, and what instructions there leave behind. */
#include "boot.h"

static struct code_place place_of(uint64_t address, const void *host)
{
	struct code_place place;

	place_find(&boot, &boot.vcpus[0], address, host, &place);
	return place;
}

static void test_kernel(void)
{
	static const uint64_t slide = 0xe400000, other = 0x200000;
	static const uint8_t memory[0x10000];

	boot_open();
	CHECK(place_of(LOW + 0x105, NULL).flags == (CODE_STAGE | CODE_ANONYMOUS));
	kernel_image_enter(&boot.image, KERNEL, LOW, memory);
	/* Identity-mapped, at its entry and further in. */
	CHECK(place_of(LOW, memory).function == START && place_of(LOW, memory).flags == (CODE_KERNEL | CODE_START));
	CHECK(place_of(LOW + 0x105, memory + 0x105).address == KERNEL + 0x105);
	/* In its own half: where it is in the host's memory tells the slide, which may change once. */
	CHECK(place_of(KERNEL + other + 0x100, memory + 0x100).function == START_KERNEL);
	CHECK(place_of(KERNEL + slide + 0x100, memory + 0x100).address == KERNEL + 0x100);
	CHECK(boot.image.slide == slide && place_of(KERNEL + slide + 0x200, NULL).function == REST);
	/* Not what happens to be in that memory later. */
	kernel_image_fix_slide(&boot.image, slide);
	CHECK(place_of(KERNEL + other + 0x100, memory + 0x100).function == boot.function_kernel);
	CHECK(place_of(KERNEL + slide + 0x100 * BOOT_FUNCTIONS, NULL).function == boot.function_kernel);
	CHECK(place_of(0xffffffffc0000000, NULL).flags == CODE_KERNEL);
	run(START, 0, 5);
	CHECK(place_of(0x401000, memory + 0x100).function == boot.function_user);
	CHECK(place_of(LOW + 0x200, memory + 0x200).function == REST); /* a vCPU that starts late */
	CHECK(place_of(LOW + 0x200, memory + 0x300).function == boot.function_user);
	boot_close();
}

static void test_without_host_addresses(void)
{
	boot_open();
	kernel_image_enter(&boot.image, KERNEL, LOW, NULL);
	CHECK(place_of(KERNEL + 0x100, NULL).function == boot.function_kernel);
	CHECK(place_of(LOW + 0x100, NULL).function == START_KERNEL);
	kernel_image_fix_slide(&boot.image, 0);
	CHECK(place_of(KERNEL + 0x100, NULL).function == START_KERNEL);
	CHECK(place_of(LOW + 0x100, NULL).flags & CODE_STAGE);
	boot_close();
	/* The kernel's entry had no symbol. */
	boot_open();
	kernel_image_fix_slide(&boot.image, 0x200000);
	CHECK(place_of(KERNEL + 0x200100, NULL).function == START_KERNEL);
	CHECK(place_of(LOW, NULL).flags & CODE_STAGE);
	boot_close();
}

static void test_entries(void)
{
	const struct config x86 = { .arch = ARCH_X86_64 }, arm = { .arch = ARCH_AARCH64 };

	CHECK(place_enters(&x86, &(struct code_place){ .role = ROLE_ENTRY, .flags = CODE_KERNEL | CODE_START }));
	CHECK(!place_enters(&x86, &(struct code_place){ .role = ROLE_ENTRY, .flags = CODE_KERNEL }));
	CHECK(place_enters(&x86, &(struct code_place){ .role = ROLE_STUBS, .address = KERNEL + 9 }));
	CHECK(place_enters(&arm, &(struct code_place){ .role = ROLE_STUBS, .address = KERNEL + 0x280 }));
	CHECK(!place_enters(&arm, &(struct code_place){ .role = ROLE_STUBS, .address = KERNEL + 0x284 }));
	CHECK(!place_enters(&x86, &(struct code_place){ .role = ROLE_PLAIN, .flags = CODE_START }));
}

/* A jump or call of x86 to a function, from START_KERNEL. */
static uint64_t mark_to(uint8_t opcode, unsigned function, uint8_t role)
{
	struct code_place place;
	uint8_t code[5] = { opcode };
	uint64_t next = address_of(START_KERNEL, 0x20);
	int32_t offset = (int32_t)(address_of(function, 0) - next);

	CHECK(kernel_image_find(&boot.image, address_of(START_KERNEL, 0), &place));
	place.role = role;
	memcpy(code + 1, &offset, sizeof offset);
	return place_mark(&boot, &place, code, sizeof code, next);
}

static void test_marks(void)
{
	const uint8_t ret = 0xc3, interrupt[] = { 0xcd, 0x13 }, indirect[] = { 0xff, 0xd0 };
	const struct code_place kernel = { .flags = CODE_KERNEL }, stage = { .flags = CODE_STAGE | CODE_ANONYMOUS },
				trampoline = { .flags = CODE_KERNEL, .role = ROLE_TRAMPOLINE };
	uint64_t next = address_of(START_KERNEL, 0x20);

	boot_open();
	CHECK(mark_to(0xe8, LEAF, ROLE_PLAIN) == mark_make(MARK_CALL, next));
	CHECK(mark_to(0xe8, THUNK, ROLE_PLAIN) == mark_make(MARK_CALL_INDIRECT, next));
	CHECK(mark_to(0xe9, LEAF, ROLE_PLAIN) == 0);
	CHECK(mark_to(0xe9, RETURN_THUNK, ROLE_PLAIN) == mark_make(MARK_RETURN, 0));
	CHECK(place_mark(&boot, &kernel, indirect, 2, next) == mark_make(MARK_CALL_INDIRECT, next));
	CHECK(place_mark(&boot, &kernel, &ret, 1, next) == mark_make(MARK_RETURN, 0));
	CHECK(place_mark(&boot, &trampoline, &ret, 1, next) == mark_make(MARK_RETURN_MAYBE, 0));
	CHECK(place_mark(&boot, &kernel, interrupt, 2, next) == 0);
	CHECK(place_mark(&boot, &stage, interrupt, 2, 0x7c20) == mark_make(MARK_CALL, 0x7c20));
	CHECK(mark_address(mark_make(MARK_CALL, next)) == next && mark_kind(mark_make(MARK_HALT, 0)) == MARK_HALT);
	CHECK(mark_address(mark_make(MARK_CALL, 0x7c20)) == 0x7c20 && mark_kind(MARK_NOTHING) == MARK_FUNCTION);
	boot_close();
}

static void write_object(char path[], const char *text)
{
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");

	CHECK(fd >= 0 && file && fputs(text, file) >= 0 && !fclose(file));
}

/* A decompressor with symbols: its functions are below the stage, which keeps its name. */
static void test_stage_symbols(void)
{
	char path[] = "/tmp/bootlab-object-XXXXXX";
	struct object object = { "[decompressor]", path };
	struct code_place place;

	write_object(path, "bootlab-functions 1\n100000 - startup_32\n100200 - extract_kernel\n100300 end\n");
	boot_config.objects = &object;
	boot_config.n_objects = 1;
	boot_open();
	boot.stage = STAGE_DECOMPRESSOR;
	place = place_of(0x90000, NULL);
	boot_enter_place(0, &place, 1);
	place = place_of(0x100000, NULL);
	CHECK(place.flags == (CODE_STAGE | CODE_START));
	boot_enter_place(0, &place, 2);
	leave(MARK_CALL, 0x100010);
	place = place_of(0x100200, NULL);
	boot_enter_place(0, &place, 3);
	leave(MARK_RETURN, 0);
	place = place_of(0x100010, NULL);
	boot_enter_place(0, &place, 4);
	boot_close();
	boot_config.n_objects = 0;
	unlink(path);

	check_account();
	check_spent("[decompressor]", 1, 1);
	check_spent("[decompressor];startup_32 [decompressor]", 6, 1);
	check_spent("[decompressor];startup_32 [decompressor];extract_kernel [decompressor]", 3, 1);
}

/* Nothing is left behind when the profile cannot begin. */
static void test_bad_files(void)
{
	char path[] = "/tmp/bootlab-object-XXXXXX", message[256];
	struct object object = { "[firmware]", path };

	write_object(path, "bootlab-functions 1\n");
	boot_open();
	boot_close();
	write_object(boot_functions_path, "bootlab-functions 1\n1 end\n");
	boot_config.objects = &object;
	boot_config.n_objects = 1;
	CHECK(profile_open(&boot_config, guest, 0, "/dev/null", message, sizeof message, &boot) < 0);
	CHECK(strstr(message, path) && strstr(message, ":1: the last line must have the role end"));
	boot_config.n_objects = 0;
	CHECK(profile_open(&boot_config, guest, 0, "/nonexistent/profile", message, sizeof message, &boot) < 0);
	CHECK(!strcmp(message, "/nonexistent/profile: No such file or directory"));
	unlink(boot_functions_path);
	CHECK(profile_open(&boot_config, guest, 0, "/dev/null", message, sizeof message, &boot) < 0);
	unlink(path);
}

int main(void)
{
	test_kernel();
	test_without_host_addresses();
	test_entries();
	test_marks();
	test_stage_symbols();
	test_bad_files();
	puts("test_places: ok");
	return 0;
}
