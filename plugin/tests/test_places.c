/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which code an address is, wherever the kernel runs, and what instructions there leave behind. */
#include "boot.h"
#include "profile/hooks.h"

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
	const struct config x86 = { .arch = ARCH_X86_64 }, arm = { .arch = ARCH_AARCH64 }, narrow = { .arch = ARCH_ARMV7 };

	CHECK(place_enters(&x86, &(struct code_place){ .role = ROLE_ENTRY, .flags = CODE_KERNEL | CODE_START }));
	CHECK(!place_enters(&x86, &(struct code_place){ .role = ROLE_ENTRY, .flags = CODE_KERNEL }));
	CHECK(place_enters(&x86, &(struct code_place){ .role = ROLE_STUBS, .address = KERNEL + 9 }));
	CHECK(place_enters(&arm, &(struct code_place){ .role = ROLE_STUBS, .address = KERNEL + 0x280 }));
	CHECK(!place_enters(&arm, &(struct code_place){ .role = ROLE_STUBS, .address = KERNEL + 0x284 }));
	CHECK(place_enters(&narrow, &(struct code_place){ .role = ROLE_STUBS, .address = 0xffff0018 }));
	CHECK(!place_enters(&narrow, &(struct code_place){ .role = ROLE_STUBS, .address = 0xffff1024 }));
	CHECK(!place_enters(&narrow, &(struct code_place){ .role = ROLE_STUBS, .address = 0xffff001a }));
	CHECK(!place_enters(&x86, &(struct code_place){ .role = ROLE_PLAIN, .flags = CODE_START }));
}

static uint64_t mark_of(const struct code_place *place, const uint8_t *code, size_t size, uint64_t next)
{
	return place_mark(&boot, place, &(struct instruction){ .code = code, .size = size, .next = next });
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
	return mark_of(&place, code, sizeof code, next);
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
	CHECK(mark_of(&kernel, indirect, 2, next) == mark_make(MARK_CALL_INDIRECT, next));
	CHECK(mark_of(&kernel, &ret, 1, next) == mark_make(MARK_RETURN, 0));
	CHECK(mark_of(&trampoline, &ret, 1, next) == mark_make(MARK_RETURN_MAYBE, 0));
	CHECK(mark_of(&kernel, interrupt, 2, next) == 0);
	CHECK(mark_of(&stage, interrupt, 2, 0x7c20) == mark_make(MARK_CALL, 0x7c20));
	CHECK(mark_address(mark_make(MARK_CALL, next)) == next && mark_kind(mark_make(MARK_HALT, 0)) == MARK_HALT);
	CHECK(mark_address(mark_make(MARK_CALL, 0x7c20)) == 0x7c20 && mark_kind(MARK_NOTHING) == MARK_FUNCTION);
	boot_close();
}

/* What an instruction of 32-bit arm leaves behind, at 0xc0100018 with `before` in front of it. */
static uint64_t arm_mark(const struct code_place *place, const char *before, size_t size, uint32_t word, size_t length, bool thumb)
{
	uint64_t address = 0xc0100018;

	guest_clear();
	guest_put(address - size, before, size);
	return place_mark(&boot, place,
			  &(struct instruction){ (const uint8_t *)&word, length, address, address + length, thumb });
}

static void test_arm_marks(void)
{
	const struct code_place kernel = { .flags = CODE_KERNEL }, stub = { .flags = CODE_KERNEL, .role = ROLE_STUBS },
				entry = { .flags = CODE_KERNEL, .role = ROLE_ENTRY },
				user = { .flags = CODE_ANONYMOUS | CODE_INEXACT };
	/* As in ret_from_fork: addwne lr, pc, #5; movne pc, r5. And A32: adrcc lr, .-0x100; ldrcc pc, [r8, r7, lsl #2]. */
	static const char addw[] = { 0x0f, (char)0xf2, 0x05, 0x0e }, adr[] = { 0x40, (char)0xef, 0x4f, 0x32, 0x08, 0, 0, 0 };

	boot_open();
	boot_config.arch = ARCH_ARMV7;
	CHECK(arm_mark(&kernel, "", 0, 0xe12fff1e, 4, false) == mark_make(MARK_RETURN, 0xc010001c));
	CHECK(arm_mark(&kernel, "", 0, 0x4770, 2, true) == mark_make(MARK_RETURN, 0xc010001a));
	CHECK(arm_mark(&kernel, "", 0, 0xe12fff13, 4, false) == mark_make(MARK_RETURN_MAYBE, 0xc010001c));
	CHECK(arm_mark(&user, "", 0, 0xe12fff13, 4, false) == 0);
	CHECK(arm_mark(&kernel, addw, sizeof addw, 0x46af, 2, true) == mark_make(MARK_CALL_LINKED, 0xc010001c));
	CHECK(arm_mark(&kernel, adr, sizeof adr, 0x3798f107, 4, false) == mark_make(MARK_CALL_LINKED, 0xc0100018 - 0x100));
	/* b arm_syscall: a call from an entry alone. */
	CHECK(arm_mark(&entry, addw, sizeof addw, 0xea000100, 4, true) == 0);
	CHECK(arm_mark(&entry, adr, sizeof adr, 0xea000100, 4, false) == mark_make(MARK_CALL_LINKED, 0xc0100018 - 0x100));
	CHECK(arm_mark(&kernel, adr, sizeof adr, 0xea000100, 4, false) == 0);
	/* subs pc, lr, #4; movs pc, lr */
	CHECK(arm_mark(&kernel, "", 0, 0xe25ef004, 4, false) == mark_make(MARK_EXCEPTION_RETURN, 0xc010001c));
	CHECK(arm_mark(&stub, "", 0, 0xe1b0f00e, 4, false) == 0);
	boot_close();
}

/* A call in two instructions is a direct one, of which a console's initcalls are told; code below the kernel's may be firmware. */
static void test_riscv(void)
{
	const struct code_place kernel = { .flags = CODE_KERNEL };
	const uint8_t pair[] = { 0xe7, 0x80, 0x80, 0x7a }, pointer[] = { 0x82, 0x97 }, ret[] = { 0x82, 0x80 };
	uint64_t next = address_of(START_KERNEL, 0x20);

	boot_open();
	boot_config.arch = ARCH_RISCV64;
	CHECK(mark_of(&kernel, pair, sizeof pair, next) == mark_make(MARK_CALL, next));
	CHECK(mark_of(&kernel, pointer, sizeof pointer, next) == mark_make(MARK_CALL_INDIRECT, next));
	CHECK(mark_of(&kernel, ret, sizeof ret, next) == mark_make(MARK_RETURN, 0));
	kernel_image_fix_slide(&boot.image, 0);
	run(START, 0, 5);
	CHECK(place_of(0x80005800, NULL).function == boot.function_user);
	boot.vcpus[0].in_firmware = true;
	CHECK(place_of(0x80005800, NULL).function == boot.stages.kinds[STAGE_FIRMWARE].number);
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

/* U-Boot moves itself, but for what it keeps in the secure world's memory. */
static void test_moved_stage(void)
{
	static const uint64_t moved = 0x7df5a000;
	char path[] = "/tmp/bootlab-object-XXXXXX";
	struct object object = { "[U-Boot]", path };
	enum stage_kind kind = STAGE_FIRMWARE;
	struct code_place place;

	write_object(path, "bootlab-functions 1\n44000 - psci_cpu_on\n44100 end\n4a000000 - _start\n4a000400 - do_load\n4a000500 end\n");
	boot_config.objects = &object;
	boot_config.n_objects = 1;
	boot_config.relocated_from = 0x4a000000;
	boot_open();
	CHECK(stages_begin("opensbi_entry", &kind) && kind == STAGE_OPENSBI);
	CHECK(stages_begin("uboot_entry", &kind) && kind == STAGE_UBOOT && !stages_begin("kernel_load", &kind));
	boot.stage = kind;
	CHECK(place_of(0x4a000404, NULL).address == 0x4a000404 && place_of(moved + 4, NULL).flags & CODE_ANONYMOUS);
	hooks_reached(&boot, &boot.vcpus[0], HOOK_RELOCATE, (const uint64_t[HOOK_ARGUMENTS]){ moved });
	place = place_of(moved + 0x400, NULL);
	CHECK(place.address == 0x4a000400 && place.flags == (CODE_STAGE | CODE_START));
	CHECK(place_of(0x4a000400, NULL).function == place.function); /* what is left of the first copy */
	CHECK(place_of(0x44010, NULL).address == 0x44010 && !(place_of(0x44010, NULL).flags & CODE_ANONYMOUS));
	boot_close();
	/* riscv64's says where to behind two other arguments. */
	boot_open();
	boot_config.arch = ARCH_RISCV64;
	boot.stage = kind;
	hooks_reached(&boot, &boot.vcpus[0], HOOK_RELOCATE, (const uint64_t[HOOK_ARGUMENTS]){ 1, 2, moved });
	CHECK(place_of(moved + 0x400, NULL).address == 0x4a000400);
	boot_close();
	boot_config.n_objects = 0;
	unlink(path);
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
	test_arm_marks();
	test_riscv();
	test_stage_symbols();
	test_moved_stage();
	test_bad_files();
	puts("test_places: ok");
	return 0;
}
