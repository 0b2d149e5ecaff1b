/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A made-up boot for tests of the profile: a small kernel at its link addresses, and blocks entered one by one.
 *
 * Every function is 0x100 bytes long, at KERNEL + 0x100 * its number.
 */
#ifndef BOOTLAB_TESTS_BOOT_H
#define BOOTLAB_TESTS_BOOT_H

#include <inttypes.h>

#include "guest.h"
#include "profile/flow.h"
#include "profile/places.h"
#include "profile_read.h"

static const uint64_t KERNEL = 0xffffffff81000000, LOW = 0x1000000;

enum { START, START_KERNEL, REST, IRQ_STUBS, ASM_IRQ, IRQ_RETURN, DO_IRQ, SWITCH, FORK, THREAD, THUNK, RETURN_THUNK, TRAMPOLINE,
       ENTRY_SYSCALL, DO_SYSCALL, SYS_READ, COPY, CONSOLE_INIT, CON_INIT, INITCALL, LEAF, FAULT, BOOT_FUNCTIONS };

static const char *const boot_names[BOOT_FUNCTIONS] = {
	"startup_64", "start_kernel", "rest; init", "irq_entries_start", "asm_common_interrupt", "common_interrupt_return",
	"do_irq", "__switch_to", "ret_from_fork", "thread", "__x86_indirect_thunk_rax", "__x86_return_thunk", "__SCT__call",
	"entry_SYSCALL_64", "do_syscall_64", "__x64_sys_read", "copy", "console_init", "con_init", "do_one_initcall", "leaf",
	"asm_exc_page_fault",
};

static const char *const boot_roles[BOOT_FUNCTIONS] = {
	[IRQ_STUBS] = "stubs", [ASM_IRQ] = "entry", [FORK] = "fork", [THUNK] = "thunk", [RETURN_THUNK] = "return",
	[TRAMPOLINE] = "trampoline", [ENTRY_SYSCALL] = "entry", [SYS_READ] = "syscall", [FAULT] = "entry",
};

static char boot_functions_path[] = "/tmp/bootlab-functions-XXXXXX";
static struct profile boot;
static struct config boot_config;
static uint64_t boot_instructions, boot_idle_ns, boot_charged_ns;
static uint64_t boot_mark[4] = { MARK_NOTHING, MARK_NOTHING, MARK_NOTHING, MARK_NOTHING }; /* per vCPU */

static inline uint64_t address_of(unsigned function, unsigned offset)
{
	return KERNEL + 0x100 * (uint64_t)function + offset;
}

static inline void boot_open(void)
{
	char message[256];
	int fd = mkstemp(boot_functions_path);
	FILE *file = fdopen(fd, "w");

	CHECK(fd >= 0 && file);
	profile_path_make();
	fputs("bootlab-functions 1\n", file);
	for (unsigned i = 0; i < BOOT_FUNCTIONS; i++)
		fprintf(file, "%" PRIx64 " %s %s\n", address_of(i, 0), boot_roles[i] ? boot_roles[i] : "-", boot_names[i]);
	fprintf(file, "%" PRIx64 " end end\n", address_of(BOOT_FUNCTIONS, 0));
	CHECK(!fclose(file));
	boot_config.arch = ARCH_X86_64;
	boot_config.functions = boot_functions_path;
	boot_instructions = boot_idle_ns = boot_charged_ns = 0;
	for (int i = 0; i < 4; i++)
		boot_mark[i] = MARK_NOTHING;
	CHECK(profile_open(&boot_config, guest, 0, profile_path, message, sizeof message, &boot) == 0);
}

static inline struct stamp boot_now(void)
{
	return (struct stamp){ (int64_t)(boot_instructions + boot_idle_ns + boot_charged_ns), (int64_t)boot_instructions,
				(int64_t)boot_charged_ns };
}

static inline void boot_close(void)
{
	CHECK(profile_close(&boot, boot_now()) == 0);
	unlink(boot_functions_path);
	memcpy(strrchr(boot_functions_path, '-'), "-XXXXXX", 8);
	profile_load();
	unlink(profile_path);
	memcpy(strrchr(profile_path, '-'), "-XXXXXX", 8);
}

static inline void boot_enter_place(unsigned vcpu, const struct code_place *place, uint64_t n_insns)
{
	struct block block = { .place = *place,
			       .n_insns = (uint16_t)n_insns,
			       .enters = place_enters(&boot_config, place),
			       .in_firmware = boot.vcpus[vcpu].in_firmware };
	uint64_t mark = boot_mark[vcpu];

	if (boot.running != &boot.vcpus[vcpu])
		profile_run(&boot, &boot.vcpus[vcpu], boot_now());
	profile_account(&boot, boot_now());
	boot_mark[vcpu] = place->function;
	if (mark != place->function && place->role != ROLE_THUNK && place->role != ROLE_RETURN && place->role != ROLE_TRAMPOLINE)
		flow_enter(&boot, &boot.vcpus[vcpu], &block, mark, boot_instructions);
	else if (mark != place->function)
		boot_mark[vcpu] = mark;
	boot_instructions += n_insns;
}

/* `n_insns` instructions at `offset` of a function, on vCPU 0. */
static inline void run(unsigned function, unsigned offset, uint64_t n_insns)
{
	struct code_place place;

	CHECK(kernel_image_find(&boot.image, address_of(function, offset), &place));
	boot_enter_place(0, &place, n_insns);
}

/* The same in user mode; one function for all code. */
static inline void run_user(uint64_t address, uint64_t n_insns)
{
	struct code_place place;

	place_find(&boot, &boot.vcpus[0], address, NULL, &place);
	boot_enter_place(0, &place, n_insns);
}

/* The block's last instruction was ... */
static inline void leave(enum mark_kind kind, uint64_t next)
{
	boot_mark[0] = mark_make(kind, next);
}

static inline void calls_from(unsigned function, unsigned next)
{
	leave(MARK_CALL, address_of(function, next));
}

static inline void check_spent(const char *path, uint64_t instructions, uint64_t calls)
{
	uint64_t found_calls, found = profile_spent(path, boot_names, BOOT_FUNCTIONS, &found_calls);

	if (found != instructions || found_calls != calls)
		fprintf(stderr, "%s: %" PRIu64 " instructions, %" PRIu64 " calls\n", path, found, found_calls);
	CHECK(found == instructions && found_calls == calls);
}

/* Weights and idle stretches add up to what ran. */
static inline void check_account(void)
{
	struct profile_weight weight;
	struct profile_idle idle;
	struct profile_end end;
	uint64_t sum = 0, idle_ns = 0;
	char text[8];

	for (size_t i = 0; profile_record(PROFILE_WEIGHT, i, sizeof weight, &weight); i++)
		sum += weight.instructions;
	for (size_t i = 0; profile_record(PROFILE_IDLE, i, sizeof idle, &idle); i++)
		idle_ns += idle.end_ns - idle.start_ns;
	CHECK(profile_text_record(PROFILE_END, 0, sizeof end, &end, text, sizeof text));
	CHECK(end.instructions == boot_instructions && sum == boot_instructions);
	CHECK(end.idle_ns == boot_idle_ns && idle_ns == boot_idle_ns && end.t_ns == sum + idle_ns + boot_charged_ns);
}

static inline struct profile_counts last_counts(void)
{
	struct profile_counts counts, latest = { 0 };
	char text[8];

	for (size_t i = 0; profile_text_record(PROFILE_COUNTS, i, sizeof counts, &counts, text, sizeof text); i++)
		latest = counts;
	return latest;
}

/* From power-on into start_kernel(), which has run 10 instructions. */
static inline void boot_kernel(void)
{
	kernel_image_enter(&boot.image, KERNEL, LOW, NULL);
	run(START, 0, 5);
	run(START_KERNEL, 0, 10);
}

#endif
