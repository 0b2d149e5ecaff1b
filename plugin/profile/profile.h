/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the time goes: the account of every task, function by function, kept while others follow what runs.
 *
 * What lies between two moments, each an exact count of instructions, is charged to what ran. So the account closes by
 * construction. No QEMU headers.
 */
#ifndef BOOTLAB_PROFILE_H
#define BOOTLAB_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code/address_spaces.h"
#include "code/code_map.h"
#include "code/instructions.h"
#include "code/modules.h"
#include "code/stages.h"
#include "config/config.h"
#include "records/calls.h"
#include "records/names.h"
#include "records/profile_writer.h"
#include "records/tasks.h"
#include "records/trap_counts.h"
#include "records/tree.h"
#include "records/writer.h"
#include "task_layout.h"

/*
 * What the latest block left behind: the number of the function that runs, or how it was left. One word, because a
 * translated block stores it with one instruction.
 */
enum mark_kind {
	MARK_FUNCTION,
	MARK_CALL,	    /* with the return address */
	MARK_CALL_INDIRECT, /* the same */
	MARK_CALL_LINKED,   /* with the return address that was made for it; maybe only a jump (arm) */
	MARK_RETURN,	    /* with the address of the next instruction where it may have a condition (arm) */
	MARK_RETURN_MAYBE, /* of code that may stand for the function that it was jumped to from, or for its caller */
	MARK_EXCEPTION_RETURN, /* with the address of the next instruction */
	MARK_HALT,
};

#define PROFILE_NO_FUNCTION UINT32_MAX
#define MARK_NOTHING UINT64_C(0x0fffffffffffffff) /* no function's number */

static inline uint64_t mark_make(enum mark_kind kind, uint64_t address)
{
	return (uint64_t)kind << 60 | (address & UINT64_C(0x0fffffffffffffff));
}

static inline enum mark_kind mark_kind(uint64_t mark)
{
	return (enum mark_kind)(mark >> 60);
}

static inline uint64_t mark_address(uint64_t mark)
{
	return (uint64_t)((int64_t)(mark << 4) >> 4);
}

/* A translated block of code. */
struct block {
	struct code_place place;
	uint16_t n_insns;
	bool begins_stage;
	bool enters; /* an exception or interrupt begins here, unless it is reached from another such place */
	bool in_firmware; /* as struct vcpu has it */
};

struct vcpu {
	uint32_t number;
	struct task *task;    /* whose code it runs */
	struct task stage;    /* before it has one: what runs ahead of the kernel */
	bool in_firmware;     /* in a mode that only firmware has, while code is translated for it: riscv64's M */
};

enum { PROFILE_VCPUS_MAX = 64 };

/* Offsets of struct members that hooks read. */
enum {
	OFFSET_TASK_COMM,
	OFFSET_TASK_PID,
	OFFSET_TASK_TGID,
	OFFSET_TASK_STATE,
	OFFSET_TASK_ON_RQ,
	OFFSET_TASK_DELAYED,
	OFFSET_BINPRM_FILENAME,
	OFFSET_BINPRM_STACK,
	OFFSET_DEVICE_NAME,
	OFFSET_DEVICE_INIT_NAME,
	OFFSET_DRIVER_NAME,
	OFFSET_MODULE_NAME,
	OFFSET_REQUEST_SIZE,
	OFFSET_REQUEST_FLAGS,
	OFFSET_REQUEST_QUEUE,
	OFFSET_REQUEST_DISK,
	OFFSET_QUEUE_DISK,
	OFFSET_DISK_NAME,
	OFFSETS,
};

#define OFFSET_UNKNOWN UINT64_MAX

struct profile {
	const struct config *config;
	struct guest guest;
	struct profile_writer writer;
	struct kernel_image image;
	struct names names;
	struct tree tree;
	struct tasks tasks;
	struct calls calls;
	struct trap_counts traps;
	struct modules modules;
	struct address_spaces spaces;
	struct stages stages;
	struct vcpu vcpus[PROFILE_VCPUS_MAX];
	struct vcpu *running; /* what is charged */
	unsigned shift;
	uint64_t instructions, idle_ns, charged_ns; /* up to the latest moment */
	uint64_t end_ns;
	uint32_t function_kernel, function_user;
	enum stage_kind stage; /* the one that runs until the kernel does */
	enum stage_kind beneath; /* whose code runs in the mode that only firmware has: riscv64's M */
	uint64_t offsets[OFFSETS]; /* OFFSET_UNKNOWN: the kernel has no such member */
	struct task_layout layout; /* where it does not say */
	uint32_t console_init; /* its function, or PROFILE_NO_FUNCTION */
	struct profile_counts counts;
};

/*
 * Create the file at `path` and read the functions file that `config` names; `config` must outlive the profile. Returns 0 or
 * a negative errno with one line in `message`.
 */
int profile_open(const struct config *config, struct guest guest, unsigned shift, const char *path, char *message,
		 size_t message_size, struct profile *ret);
/* Write the end of the account. Returns 0, or the first failure of any write as -errno. */
int profile_close(struct profile *profile, struct stamp at);

/*
 * Charge what ran up to `at`, and take the clock for idle time, but for what was charged to it: that is of the node that runs.
 * `at` never goes back.
 */
void profile_account(struct profile *profile, struct stamp at);
/*
 * The clock is charged `ns` within the block that runs, whose exact place in time nobody knows: the stretch begins where the latest
 * moment was, and the account is that of the node that runs.
 */
void profile_charge_within(struct profile *profile, uint64_t ns);
/* What runs did something that may leave a guest of KVM; or it was the first to touch a page of physical memory. */
void profile_trap(struct profile *profile, const struct trap *trap);
void profile_page(struct profile *profile, uint64_t page, enum profile_page_use use);
/* `vcpu` goes on with what it was doing, at `at`, when another one ran last. */
void profile_run(struct profile *profile, struct vcpu *vcpu, struct stamp at);
/* A slice ends. */
void profile_cut(struct profile *profile, const char *name, struct stamp at);

static inline uint64_t profile_now(const struct profile *profile)
{
	return (profile->instructions << profile->shift) + profile->idle_ns + profile->charged_ns;
}

static inline uint32_t profile_node(const struct vcpu *vcpu)
{
	return stack_node(&vcpu->task->stack);
}

/* For the other parts of the profile. */
void profile_charge(struct profile *profile, uint64_t instructions);
void profile_open_call(struct profile *profile, struct vcpu *vcpu, enum profile_call_kind kind, uint64_t argument,
		       const char *text);
/* Whether an interrupt has borrowed the running task; system calls and its own faults are not meant. */
bool profile_in_interrupt(const struct profile *profile, const struct vcpu *vcpu);
/* The function of `frame` runs no longer: a span, if it took long enough to be kept. */
void profile_end_span(struct profile *profile, const struct task *task, const struct frame *frame);
/* All frames above `depth` are over, with their spans and calls. */
void profile_drop_frames(struct profile *profile, struct task *task, uint32_t depth);

#endif
