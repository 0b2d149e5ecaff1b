/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the shadow stacks make of calls, returns, jumps, exceptions and task switches. */
#include "boot.h"
#include "profile/hooks.h"

#define THREAD0 "swapper/0-0;"

static void test_calls(void)
{
	boot_open();
	boot_kernel();
	calls_from(START_KERNEL, 0x20);
	run(REST, 0, 7);
	calls_from(REST, 0x10);
	run(LEAF, 0, 3);
	leave(MARK_RETURN, 0);
	run(REST, 0x10, 2);
	run(COPY, 0x80, 1); /* out of the middle, and back */
	run(REST, 0x20, 1);
	run(COPY, 0, 4); /* a tail call */
	leave(MARK_RETURN, 0);
	run(START_KERNEL, 0x20, 1);
	profile_cut(&boot, "half; way", boot_now());
	calls_from(START_KERNEL, 0x30);
	run(LEAF, 0, 100);
	boot_close();

	check_account();
	check_spent(THREAD0 "startup_64", 5, 1);
	check_spent(THREAD0 "start_kernel", 11, 1);
	check_spent(THREAD0 "start_kernel;rest; init", 10, 1);
	check_spent(THREAD0 "start_kernel;rest; init;leaf", 3, 1);
	check_spent(THREAD0 "start_kernel;copy", 5, 1);
	check_spent(THREAD0 "start_kernel;leaf", 100, 1);
	CHECK(last_counts().returns == 2 && last_counts().mismatched_returns == 0 && last_counts().calls == 3);
}

static void test_transparent_code(void)
{
	boot_open();
	boot_kernel();
	/* A retpoline and a static call go on to what they call; one that stands for nothing returns at once. */
	leave(MARK_CALL_INDIRECT, address_of(START_KERNEL, 0x20));
	run(THUNK, 0, 2);
	run(LEAF, 0, 3);
	leave(MARK_RETURN, 0);
	run(RETURN_THUNK, 0, 1);
	run(START_KERNEL, 0x20, 1);
	calls_from(START_KERNEL, 0x30);
	run(TRAMPOLINE, 0, 1);
	run(LEAF, 0, 3);
	leave(MARK_RETURN, 0);
	run(START_KERNEL, 0x30, 1);
	calls_from(START_KERNEL, 0x40);
	run(TRAMPOLINE, 0, 1);
	leave(MARK_RETURN_MAYBE, 0);
	run(START_KERNEL, 0x40, 1);
	calls_from(START_KERNEL, 0x50);
	run(RETURN_THUNK, 0, 1);
	run(START_KERNEL, 0x50, 1);
	boot_close();

	check_account();
	check_spent(THREAD0 "start_kernel;leaf", 7, 2);
	check_spent(THREAD0 "start_kernel", 10 + 2 + 1 + 1 + 1 + 1 + 1 + 1 + 1, 1);
	CHECK(last_counts().mismatched_returns == 0);
}

/* What was about to happen when an interrupt came happens after it, and once. */
static void test_interrupts(void)
{
	boot_open();
	boot_kernel();
	calls_from(START_KERNEL, 0x20);
	run(IRQ_STUBS, 0x18, 2);
	run(ASM_IRQ, 0, 3);
	calls_from(ASM_IRQ, 0x10);
	run(DO_IRQ, 0, 20);
	leave(MARK_RETURN, 0);
	run(ASM_IRQ, 0x10, 1);
	run(IRQ_RETURN, 0, 4);
	leave(MARK_EXCEPTION_RETURN, address_of(IRQ_RETURN, 0x10));
	run(LEAF, 0, 6); /* the call */
	leave(MARK_RETURN, 0);
	run(IRQ_STUBS, 0x20, 2);
	run(ASM_IRQ, 0, 3);
	leave(MARK_EXCEPTION_RETURN, address_of(ASM_IRQ, 0x10));
	/* Another one right behind the return. */
	run(IRQ_STUBS, 0x20, 2);
	run(ASM_IRQ, 0, 3);
	leave(MARK_EXCEPTION_RETURN, address_of(ASM_IRQ, 0x10));
	run(START_KERNEL, 0x20, 1); /* the return */
	/* Serializing is no return from anything. */
	calls_from(START_KERNEL, 0x40);
	run(LEAF, 0, 1);
	leave(MARK_EXCEPTION_RETURN, address_of(LEAF, 0x10));
	run(LEAF, 0x10, 1);
	leave(MARK_RETURN, 0);
	run(START_KERNEL, 0x40, 1);
	/* A call whose own operand faults is executed anew. */
	calls_from(START_KERNEL, 0x56);
	run(FAULT, 0, 5);
	leave(MARK_EXCEPTION_RETURN, address_of(FAULT, 0x20));
	run(START_KERNEL, 0x50, 1);
	calls_from(START_KERNEL, 0x56);
	run(LEAF, 0, 1);
	boot_close();

	check_account();
	check_spent(THREAD0 "start_kernel;asm_common_interrupt", 3 + 1 + 4, 1);
	check_spent(THREAD0 "start_kernel;irq_entries_start", 2, 1);
	check_spent(THREAD0 "start_kernel;asm_common_interrupt;do_irq", 20, 1);
	check_spent(THREAD0 "start_kernel;leaf", 6 + 2 + 1, 3);
	check_spent(THREAD0 "start_kernel;leaf;asm_common_interrupt", 6, 2);
	check_spent(THREAD0 "start_kernel;asm_exc_page_fault", 5, 1);
	check_spent(THREAD0 "start_kernel", 10 + 1 + 1 + 1, 1);
	CHECK(last_counts().mismatched_returns == 0 && last_counts().interrupts == 4);
}

static void test_idle(void)
{
	struct profile_idle idle;
	char path[256];

	boot_open();
	boot_kernel();
	leave(MARK_HALT, 0);
	boot_idle_ns += 1000;
	run(IRQ_STUBS, 0, 1);
	run(ASM_IRQ, 0, 1);
	leave(MARK_EXCEPTION_RETURN, address_of(ASM_IRQ, 9));
	run(START_KERNEL, 0x10, 1);
	boot_close();

	check_account();
	CHECK(profile_record(PROFILE_IDLE, 0, sizeof idle, &idle));
	CHECK(idle.start_ns == 15 && idle.end_ns == 1015 && idle.vcpu == 0);
	profile_node_path(idle.node, boot_names, BOOT_FUNCTIONS, path, sizeof path);
	CHECK(!strcmp(path, THREAD0 "start_kernel"));
	CHECK(!profile_record(PROFILE_IDLE, 1, sizeof idle, &idle));
}

static void test_charges(void)
{
	struct profile_charged charge;
	char path[256];

	boot_open();
	boot_kernel();
	calls_from(START_KERNEL, 0x10);
	run(LEAF, 0, 1);
	profile_account(&boot, boot_now());
	boot_charged_ns += 2500;
	profile_account(&boot, boot_now());
	leave(MARK_RETURN, 0);
	run(START_KERNEL, 0x15, 1);
	leave(MARK_HALT, 0);
	boot_idle_ns += 1000;
	run(IRQ_STUBS, 0, 1);
	boot_close();

	check_account();
	CHECK(profile_record(PROFILE_CHARGED, 0, sizeof charge, &charge));
	CHECK(charge.end_ns - charge.start_ns == 2500);
	profile_node_path(charge.node, boot_names, BOOT_FUNCTIONS, path, sizeof path);
	CHECK(!strcmp(path, THREAD0 "start_kernel;leaf"));
	CHECK(!profile_record(PROFILE_CHARGED, 1, sizeof charge, &charge));
}

/* What happens within a block is of the node that runs, and what it is charged is not idle time. */
static void test_traps(void)
{
	const struct trap trap = { .kind = TRAP_OUT, .number = 0x3f8 };
	struct profile_charged charge;
	struct profile_trap count;
	struct profile_page page;
	char path[256];

	boot_open();
	boot_kernel();
	calls_from(START_KERNEL, 0x10);
	run(LEAF, 0, 5);
	for (int i = 0; i < 3; i++) {
		profile_trap(&boot, &trap);
		profile_charge_within(&boot, 2500);
		boot_charged_ns += 2500;
	}
	profile_page(&boot, 0x1234, PAGE_WRITTEN);
	profile_cut(&boot, "cut", boot_now());
	leave(MARK_RETURN, 0);
	run(START_KERNEL, 0x15, 1);
	profile_trap(&boot, &trap);
	leave(MARK_HALT, 0);
	boot_idle_ns += 1000;
	run(IRQ_STUBS, 0, 1);
	boot_close();

	check_account();
	for (size_t i = 0; i < 3; i++) {
		CHECK(profile_record(PROFILE_CHARGED, i, sizeof charge, &charge) && charge.end_ns - charge.start_ns == 2500);
		profile_node_path(charge.node, boot_names, BOOT_FUNCTIONS, path, sizeof path);
		CHECK(!strcmp(path, THREAD0 "start_kernel;leaf"));
	}
	CHECK(!profile_record(PROFILE_CHARGED, 3, sizeof charge, &charge));
	CHECK(profile_record(PROFILE_TRAP, 0, sizeof count, &count) && count.node == charge.node && count.count == 3);
	CHECK(profile_record(PROFILE_TRAP, 1, sizeof count, &count) && count.node != charge.node && count.count == 1);
	CHECK(!profile_record(PROFILE_TRAP, 2, sizeof count, &count));
	CHECK(profile_record(PROFILE_PAGE, 0, sizeof page, &page) && page.page == 0x1234 && page.node == charge.node);
	CHECK(page.use == PAGE_WRITTEN && !profile_record(PROFILE_PAGE, 1, sizeof page, &page));
}

static void test_mismatches(void)
{
	boot_open();
	boot_kernel();
	leave(MARK_RETURN, 0); /* to an address that was pushed by hand */
	run(REST, 0, 1);
	calls_from(REST, 0x10);
	run(LEAF, 0, 1);
	calls_from(LEAF, 0x10);
	run(COPY, 0, 1);
	leave(MARK_RETURN, 0); /* two at once, as longjmp() does */
	run(REST, 0x10, 1);
	boot_close();

	check_account();
	check_spent(THREAD0 "rest; init", 2, 1);
	CHECK(last_counts().returns == 2 && last_counts().mismatched_returns == 1);
}

/* The depth has a limit, the account closes all the same, and returns find their way back. */
static void test_recursion(void)
{
	enum { DEPTH = STACK_FRAMES_MAX + 100 };
	struct profile_node node;
	size_t nodes = 0;

	boot_open();
	boot_kernel();
	for (unsigned i = 0; i < DEPTH; i++) {
		calls_from(LEAF, 0x40);
		run(LEAF, 0, 1);
	}
	for (unsigned i = 0; i < DEPTH; i++) {
		leave(MARK_RETURN, 0);
		run(LEAF, 0x40, 1);
	}
	boot_close();

	check_account();
	while (profile_record(PROFILE_NODE, nodes, sizeof node, &node))
		nodes++;
	CHECK(nodes < STACK_NODES_MAX + 10);
	CHECK(last_counts().mismatched_returns <= 101);
}

static void test_user_mode(void)
{
	boot_open();
	boot_kernel();
	/* A new task goes to user mode, faults on its very first instruction, calls, makes a system call. */
	leave(MARK_RETURN, 0);
	run(FORK, 0, 4);
	run(IRQ_RETURN, 0, 2);
	leave(MARK_EXCEPTION_RETURN, address_of(IRQ_RETURN, 0x10));
	run(FAULT, 0, 5);
	leave(MARK_EXCEPTION_RETURN, address_of(FAULT, 0x20));
	run_user(0x401000, 10);
	leave(MARK_CALL, 0x401020);
	run_user(0x402000, 5);
	run(ENTRY_SYSCALL, 0, 3);
	calls_from(ENTRY_SYSCALL, 0x10);
	run(DO_SYSCALL, 0, 2);
	calls_from(DO_SYSCALL, 0x10);
	run(SYS_READ, 0, 8);
	leave(MARK_RETURN, 0);
	run(DO_SYSCALL, 0x10, 1);
	leave(MARK_RETURN, 0);
	run(ENTRY_SYSCALL, 0x10, 1);
	leave(MARK_EXCEPTION_RETURN, address_of(ENTRY_SYSCALL, 0x20));
	run_user(0x402010, 5);
	leave(MARK_RETURN, 0);
	run_user(0x7f0000401020, 5); /* the same code in another process's address space */
	boot_close();

	check_account();
	check_spent(THREAD0 "ret_from_fork", 6, 1);
	check_spent(THREAD0 "asm_exc_page_fault", 5, 1);
	/* Calls within code of no known file are not told apart. */
	check_spent(THREAD0 "[user]", 25, 2);
	check_spent(THREAD0 "[user];entry_SYSCALL_64", 4, 1);
	check_spent(THREAD0 "[user];entry_SYSCALL_64;do_syscall_64;__x64_sys_read", 8, 1);
	CHECK(last_counts().mismatched_returns == 0);
	{
		struct profile_syscall total;

		CHECK(profile_record(PROFILE_SYSCALL, 0, sizeof total, &total));
		CHECK(total.task == 0 && total.function == SYS_READ && total.calls == 1);
		CHECK(total.elapsed_ns == 8 && total.instructions == 8);
	}
}

/* An exec throws the old program's frames away when it comes to user mode, a fault on the way included. */
static void test_exec(void)
{
	boot_open();
	boot_kernel();
	leave(MARK_RETURN, 0);
	run(FORK, 0, 1);
	leave(MARK_EXCEPTION_RETURN, address_of(FORK, 0x10));
	run_user(0x401000, 1);
	leave(MARK_CALL, 0x401020);
	run_user(0x402000, 1);
	run(ENTRY_SYSCALL, 0, 1);
	boot.vcpus[0].task->replaced = true;
	leave(MARK_EXCEPTION_RETURN, address_of(ENTRY_SYSCALL, 0x20));
	run(FAULT, 0, 1);
	CHECK(boot.vcpus[0].task->stack.depth == 1);
	leave(MARK_EXCEPTION_RETURN, address_of(FAULT, 0x20));
	run_user(0x501000, 1);
	CHECK(boot.vcpus[0].task->stack.depth == 1);
	boot_close();
	check_account();
	check_spent(THREAD0 "asm_exc_page_fault", 1, 1);
}

/* Before the kernel: calls have no names, and returns that fit nothing are not counted. */
static void test_stages(void)
{
	struct code_place place;

	boot_open();
	place_find(&boot, &boot.vcpus[0], 0xfffffff0, NULL, &place);
	boot_enter_place(0, &place, 2);
	leave(MARK_CALL, 0xf0100);
	place_find(&boot, &boot.vcpus[0], 0xf1000, NULL, &place);
	boot_enter_place(0, &place, 3);
	leave(MARK_RETURN, 0);
	place_find(&boot, &boot.vcpus[0], 0xf5555, NULL, &place);
	boot_enter_place(0, &place, 4);
	leave(MARK_RETURN, 0);
	place_find(&boot, &boot.vcpus[0], 0xf0100, NULL, &place);
	boot_enter_place(0, &place, 5);
	boot_kernel();
	boot_close();

	check_account();
	check_spent("[firmware]", 7, 1);
	check_spent("[firmware];firmware@0xf1000", 7, 1);
	CHECK(last_counts().returns == 0 && last_counts().mismatched_returns == 0);
}

/* A block of firmware at `address`, where a program may begin. */
static void run_stage(uint64_t address, uint64_t n_insns)
{
	struct code_place place;

	stages_look(&boot.stages, &guest, address);
	place_find(&boot, &boot.vcpus[0], address, NULL, &place);
	boot_enter_place(0, &place, n_insns);
}

/* Functions of firmware's programs are called after them, wherever they are loaded; other code after who loaded it, if anybody. */
static void test_programs(void)
{
	static const uint8_t core[] = { 1, 2, 3, 4, 5, 6, 7, 8 }, grub[] = { 8, 7, 6, 5, 4, 3, 2, 1 };
	struct program programs[] = {
		{ .name = "DxeCore", .before = 0x10, .size = 0x2000, .entry = 0x10, .code = { .size = sizeof core } },
		{ .name = "DxeCore", .before = 0x10, .size = 0x2000, .entry = 0x234, .code = { .size = sizeof core } },
		{ .name = "GRUB", .before = 0, .size = 0x1000, .entry = 0, .loads = true, .code = { .size = sizeof grub } },
	};

	guest_clear();
	guest_put(0x700010, core, sizeof core);
	guest_put(0x900234, core, sizeof core); /* where it lies in the flash chip */
	guest_put(0x800000, grub, sizeof grub);
	for (size_t i = 0; i < 3; i++)
		memcpy(programs[i].code.bytes, i < 2 ? core : grub, sizeof core);
	boot_config.programs = programs;
	boot_config.n_programs = 3;
	boot_open();
	run_stage(0xfffffff0, 2);
	leave(MARK_CALL, 0xf0100);
	run_stage(0x700010, 3);
	leave(MARK_CALL, 0x700020);
	run_stage(0x701000, 4);
	leave(MARK_CALL, 0x701010);
	run_stage(0xa00000, 5); /* of no program, and nobody has loaded it */
	leave(MARK_CALL, 0xa00010);
	run_stage(0x800000, 6);
	leave(MARK_CALL, 0x800010);
	run_stage(0xb00000, 7);
	leave(MARK_CALL, 0xb00010);
	run_stage(0x900234, 8); /* its other copy, 0x224 bytes behind where that begins */
	leave(MARK_CALL, 0x900240);
	run_stage(0x901224, 9);
	CHECK(boot.stages.programs.n_loaded == 3);
	/* Another one in the place of the first: that is over. */
	guest_put(0x701000, grub, sizeof grub);
	stages_look(&boot.stages, &guest, 0x701000);
	CHECK(boot.stages.programs.n_loaded == 3 && !programs_find(&boot.stages.programs, 0x700010));
	CHECK(programs_find(&boot.stages.programs, 0x701fff)->number == 2 && !programs_find(&boot.stages.programs, 0x702000));
	boot_kernel();
	boot_close();
	boot_config.programs = NULL;
	boot_config.n_programs = 0;
	check_spent("[firmware]", 2, 1);
#define CORE "[firmware];DxeCore@0x10"
	check_spent(CORE, 3, 1);
	check_spent(CORE ";DxeCore@0x1000", 4, 1);
#define LOADED CORE ";DxeCore@0x1000;firmware@0xa00000"
	check_spent(LOADED, 5, 1);
	check_spent(LOADED ";GRUB@0x0", 6, 1);
	check_spent(LOADED ";GRUB@0x0;loaded by GRUB@0xb00000", 7, 1);
	check_spent(LOADED ";GRUB@0x0;loaded by GRUB@0xb00000;DxeCore@0x10", 8, 1);
	check_spent(LOADED ";GRUB@0x0;loaded by GRUB@0xb00000;DxeCore@0x10;DxeCore@0x1000", 9, 1);
}

/* `n_insns` instructions of firmware that is beneath the kernel. */
static void run_firmware(uint64_t address, uint64_t n_insns)
{
	struct code_place place;

	boot.vcpus[0].in_firmware = true;
	place_find(&boot, &boot.vcpus[0], address, NULL, &place);
	CHECK(place.flags & CODE_STAGE);
	boot_enter_place(0, &place, n_insns);
	boot.vcpus[0].in_firmware = false;
}

/* riscv64: the kernel calls its firmware, in exceptions too; a program traps into it, which may hand that on to the kernel. */
static void test_firmware_beneath_the_kernel(void)
{
	boot_open();
	run_firmware(0x80000000, 6);
	boot_kernel();
	calls_from(START_KERNEL, 0x20);
	run(REST, 0, 7);
	run_firmware(0x80000400, 3);
	leave(MARK_CALL, 0x80000500);
	run_firmware(0x80005800, 4);
	leave(MARK_RETURN, 0);
	run_firmware(0x80000500, 2);
	leave(MARK_EXCEPTION_RETURN, 0x80000600);
	run(REST, 0x10, 1);
	run(FAULT, 0, 5);
	run_firmware(0x80000400, 1);
	leave(MARK_EXCEPTION_RETURN, 0x80000600);
	run(FAULT, 0x20, 2);
	leave(MARK_EXCEPTION_RETURN, address_of(FAULT, 0x30));
	run(REST, 0x20, 1);
	run_firmware(0x80000400, 2);
	leave(MARK_EXCEPTION_RETURN, 0x80000700);
	run(FAULT, 0, 3); /* handed on */
	leave(MARK_EXCEPTION_RETURN, address_of(FAULT, 0x30));
	run(REST, 0x24, 1);
	leave(MARK_RETURN, 0);
	run(START_KERNEL, 0x20, 1);
	boot_close();

	check_account();
	check_spent("[firmware]", 6, 1);
	check_spent(THREAD0 "start_kernel", 11, 1);
	check_spent(THREAD0 "start_kernel;rest; init", 10, 1);
	check_spent(THREAD0 "start_kernel;rest; init;[firmware]", 3 + 2 + 2, 2);
	check_spent(THREAD0 "start_kernel;rest; init;[firmware];firmware@0x80005800", 4, 1);
	check_spent(THREAD0 "start_kernel;rest; init;asm_exc_page_fault", 5 + 2 + 3, 2);
	check_spent(THREAD0 "start_kernel;rest; init;asm_exc_page_fault;[firmware]", 1, 1);
	CHECK(last_counts().mismatched_returns == 0);
}

/* The same of a bootloader that OpenSBI has started: it is in the stage that it stopped. */
static void test_firmware_beneath_a_bootloader(void)
{
	struct code_place place;

	boot_open();
	boot.beneath = STAGE_OPENSBI;
	boot.stage = STAGE_UBOOT;
	place_find(&boot, &boot.vcpus[0], 0x81200000, NULL, &place);
	boot_enter_place(0, &place, 2);
	leave(MARK_CALL, 0x81200010);
	place_find(&boot, &boot.vcpus[0], 0x81201000, NULL, &place);
	boot_enter_place(0, &place, 3);
	run_firmware(0x80100400, 4);
	leave(MARK_CALL, 0x80100500);
	run_firmware(0x80105800, 5);
	leave(MARK_RETURN, 0);
	run_firmware(0x80100500, 1);
	leave(MARK_EXCEPTION_RETURN, 0x80100600);
	place_find(&boot, &boot.vcpus[0], 0x81201020, NULL, &place);
	boot_enter_place(0, &place, 7);
	leave(MARK_RETURN, 0);
	place_find(&boot, &boot.vcpus[0], 0x81200010, NULL, &place);
	boot_enter_place(0, &place, 8);
	boot_kernel();
	boot_close();

	check_account();
	check_spent("[U-Boot];U-Boot@0x81201000", 3 + 7, 1);
	check_spent("[U-Boot];U-Boot@0x81201000;[OpenSBI]", 4 + 1, 1);
	check_spent("[U-Boot];U-Boot@0x81201000;[OpenSBI];OpenSBI@0x80105800", 5, 1);
	CHECK(last_counts().mismatched_returns == 0);
}

/* Each vCPU has its own thread; what another one does is never charged to it. */
static void test_vcpus(void)
{
	struct code_place place;
	const char *const boot1 = "swapper/1-0;start_kernel";

	boot_open();
	boot_kernel();
	place_find(&boot, &boot.vcpus[1], 0x9a000, NULL, &place);
	boot_enter_place(1, &place, 6);
	run(START_KERNEL, 0x10, 2);
	CHECK(kernel_image_find(&boot.image, address_of(START_KERNEL, 0), &place));
	boot_enter_place(1, &place, 7);
	run(START_KERNEL, 0x10, 2);
	boot_enter_place(1, &place, 7);
	boot_close();

	check_account();
	check_spent("[startup]", 6, 1);
	check_spent(boot1, 14, 1);
	check_spent(THREAD0 "start_kernel", 14, 1);
}

static void test_console_initcalls(void)
{
	struct profile_call call;
	char text[64];

	boot_open();
	boot.console_init = CONSOLE_INIT;
	boot_kernel();
	calls_from(START_KERNEL, 0x20);
	run(CONSOLE_INIT, 0, 1);
	calls_from(CONSOLE_INIT, 0x10); /* a direct call is none */
	run(LEAF, 0, 1);
	leave(MARK_RETURN, 0);
	run(CONSOLE_INIT, 0x10, 1);
	leave(MARK_CALL_INDIRECT, address_of(CONSOLE_INIT, 0x20));
	run(CON_INIT, 0, 30);
	leave(MARK_RETURN, 0);
	run(CONSOLE_INIT, 0x20, 1);
	leave(MARK_CALL_INDIRECT, address_of(CONSOLE_INIT, 0x20));
	run(LEAF, 0, 30);
	boot_close();

	check_account();
	CHECK(profile_text_record(PROFILE_CALL, 0, sizeof call, &call, text, sizeof text));
	CHECK(call.kind == CALL_INITCALL && call.argument == address_of(CON_INIT, 0) && call.flags == 0);
	CHECK(call.end_ns - call.start_ns == 30 && call.task_instructions == 30);
	CHECK(profile_text_record(PROFILE_CALL, 1, sizeof call, &call, text, sizeof text) && call.flags == CALL_UNFINISHED);
	CHECK(!profile_text_record(PROFILE_CALL, 2, sizeof call, &call, text, sizeof text));
}

static void test_spans(void)
{
	struct profile_span span;
	char path[256];

	boot_config.span_ns = 50;
	boot_open();
	boot_kernel();
	calls_from(START_KERNEL, 0x20);
	run(LEAF, 0, 49);
	leave(MARK_RETURN, 0);
	run(START_KERNEL, 0x20, 1);
	calls_from(START_KERNEL, 0x30);
	run(LEAF, 0, 50);
	leave(MARK_RETURN, 0);
	run(START_KERNEL, 0x30, 1);
	boot_close();
	boot_config.span_ns = 0;

	CHECK(profile_record(PROFILE_SPAN, 0, sizeof span, &span));
	profile_node_path(span.node, boot_names, BOOT_FUNCTIONS, path, sizeof path);
	CHECK(!strcmp(path, THREAD0 "start_kernel;leaf") && span.start_ns == 65 && span.end_ns == 115 && span.task == 0);
	CHECK(profile_record(PROFILE_SPAN, 1, sizeof span, &span) && span.start_ns == 5 && span.end_ns == 116);
}

/* arm: what may have a condition, and calls whose return address the code has made itself. */
static void test_conditions(void)
{
	boot_open();
	boot_kernel();
	calls_from(START_KERNEL, 0x20);
	run(REST, 0, 7);
	leave(MARK_RETURN, address_of(REST, 0x10));
	run(REST, 0x10, 2); /* not met */
	leave(MARK_RETURN, address_of(REST, 0x20));
	run(START_KERNEL, 0x20, 1);
	leave(MARK_CALL_LINKED, address_of(START_KERNEL, 0x80));
	run(LEAF, 0, 3);
	leave(MARK_RETURN, address_of(LEAF, 0x10));
	run(START_KERNEL, 0x80, 1);
	leave(MARK_CALL_LINKED, address_of(START_KERNEL, 0xa0));
	run(START_KERNEL, 0x90, 1); /* only a jump */
	/* An interrupt before what is called. */
	leave(MARK_CALL_LINKED, address_of(START_KERNEL, 0xb0));
	run(IRQ_STUBS, 0x18, 2);
	run(ASM_IRQ, 0, 3);
	leave(MARK_EXCEPTION_RETURN, address_of(ASM_IRQ, 0x20));
	run(LEAF, 0, 2);
	leave(MARK_RETURN_MAYBE, address_of(LEAF, 0x10)); /* bx r3 */
	run(START_KERNEL, 0xb0, 1);
	leave(MARK_RETURN_MAYBE, address_of(START_KERNEL, 0xc0));
	run(COPY, 0, 4);
	boot_close();

	check_account();
	check_spent(THREAD0 "start_kernel;rest; init", 9, 1);
	check_spent(THREAD0 "start_kernel;leaf", 5, 2);
	check_spent(THREAD0 "start_kernel", 10 + 1 + 1 + 1 + 1, 1);
	check_spent(THREAD0 "copy", 4, 1);
	CHECK(last_counts().returns == 2 && last_counts().mismatched_returns == 0);
}

int main(void)
{
	test_calls();
	test_conditions();
	test_transparent_code();
	test_interrupts();
	test_idle();
	test_charges();
	test_traps();
	test_mismatches();
	test_recursion();
	test_user_mode();
	test_exec();
	test_stages();
	test_programs();
	test_firmware_beneath_the_kernel();
	test_firmware_beneath_a_bootloader();
	test_vcpus();
	test_console_initcalls();
	test_spans();
	puts("test_flow: ok");
	return 0;
}
