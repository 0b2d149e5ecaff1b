/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks QEMU for the callbacks that a profile needs, block by block. */
#include "instrument.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/flow.h"
#include "profile/hooks.h"
#include "profile/places.h"
#include "registers.h"

/*
 * How the flow of calls is followed depends on the number of vCPUs.
 *
 * With one, the translated code itself keeps the mark: it stores it at calls and returns, compares it at the start of each
 * block, and calls us only when something has changed. With several, QEMU 10.0's inline and conditional operations corrupt the
 * guest (marks.h), so there are callbacks at every block, call and return, with marks of our own.
 */

enum { BLOCK_BUCKETS = 1 << 16 };

struct known_block {
	struct block block;
	struct known_block *next;
};

static struct {
	struct machine *machine;
	struct profile profile;
	bool open, several;
	qemu_plugin_u64 mark; /* one vCPU: in QEMU's memory for its vCPU, */
	uint64_t *marks;      /* here; several: one each */
	struct qemu_plugin_register *arguments[HOOK_ARGUMENTS];
	struct qemu_plugin_register *state; /* arm's cpsr, riscv64's priv */
	GByteArray *bytes;
	struct known_block *blocks[BLOCK_BUCKETS]; /* QEMU forgets translations and makes them anew */
} self;

static bool read_guest(uint64_t address, void *ret, size_t size)
{
	if (!qemu_plugin_read_memory_vaddr(address, self.bytes, size) || self.bytes->len != size)
		return false;
	memcpy(ret, self.bytes->data, size);
	return true;
}

static uint64_t read_register(struct qemu_plugin_register *handle)
{
	uint64_t value = 0;

	g_byte_array_set_size(self.bytes, 0);
	qemu_plugin_read_register(handle, self.bytes);
	if (self.bytes->len)
		memcpy(&value, self.bytes->data, self.bytes->len < sizeof value ? self.bytes->len : sizeof value);
	return value;
}

static bool is_arm(void)
{
	return self.profile.config->arch == ARCH_ARMV7;
}

/* Whether what is being translated, for the vCPU that runs, is T32 code. */
static bool in_thumb(void)
{
	enum { CPSR_MODE = 31, CPSR_T = 1 << 5 };
	uint64_t state = is_arm() ? read_register(self.state) : 0;

	if (is_arm() && !(state & CPSR_MODE)) {
		/* No mode is 0. Any other guess would be a profile that looks right. */
		fprintf(stderr, "bootlab-plugin: profile: this QEMU does not tell a register while it translates\n");
		exit(EXIT_FAILURE);
	}
	return state & CPSR_T;
}

/* Whether what is being translated, for the vCPU that runs, is for the mode of riscv64's firmware. */
static bool in_machine_mode(void)
{
	enum { PRIV_LEVEL = 3, PRIV_M = 3 };

	return self.profile.config->arch == ARCH_RISCV64 && (read_register(self.state) & PRIV_LEVEL) == PRIV_M;
}

/* The clock costs more than the count and jumps only when all vCPUs are idle, which an interrupt ends. */
static bool may_have_idled(uint64_t mark, const struct block *block)
{
	return mark_kind(mark) == MARK_HALT || block->enters;
}

/* Part of whatever goes through it: it is no block of its own. */
static bool is_transparent(const struct code_place *place)
{
	return place->role == ROLE_THUNK || place->role == ROLE_RETURN || place->role == ROLE_TRAMPOLINE;
}

static void enter(unsigned int vcpu, const struct block *block)
{
	uint64_t mark = self.marks[vcpu];

	self.marks[vcpu] = block->place.function;
	if (may_have_idled(mark, block))
		profile_account(&self.profile, machine_now(self.machine, block->n_insns));
	flow_enter(&self.profile, &self.profile.vcpus[vcpu], block, mark, machine_instructions(self.machine, block->n_insns));
}

/* One vCPU: it has left a mark, or the block is of another function. */
static void on_change(unsigned int vcpu, void *userdata)
{
	(void)vcpu;
	if (self.open)
		enter(0, userdata);
}

/* Several: any block. */
static void on_block(unsigned int translated_for, void *userdata)
{
	const struct block *block = userdata;
	unsigned int vcpu = machine_vcpu(self.machine);

	(void)translated_for;
	if (!self.open)
		return;
	if (self.profile.running != &self.profile.vcpus[vcpu])
		profile_run(&self.profile, &self.profile.vcpus[vcpu], machine_now(self.machine, block->n_insns));
	if (self.marks[vcpu] != block->place.function && !is_transparent(&block->place))
		enter(vcpu, block);
}

static void on_flow(unsigned int translated_for, void *userdata)
{
	(void)translated_for;
	self.marks[machine_vcpu(self.machine)] = (uintptr_t)userdata;
}

static void on_hook(unsigned int vcpu, void *userdata)
{
	const struct hook *hook = userdata;
	uint64_t arguments[HOOK_ARGUMENTS];

	(void)vcpu;
	if (!self.open)
		return;
	for (int i = 0; i < HOOK_ARGUMENTS; i++)
		arguments[i] = read_register(self.arguments[i]);
	/* arm: what four registers do not hold is on the stack. */
	if (is_arm() && !guest_read_pointer(&self.profile.guest, arguments[HOOK_ARGUMENTS - 1], &arguments[HOOK_ARGUMENTS - 1]))
		arguments[HOOK_ARGUMENTS - 1] = 0;
	hooks_reached(&self.profile, self.profile.running, hook->kind, arguments);
}

static struct block *remember(const struct block *block)
{
	uint64_t hash = (block->place.address << 9 ^ block->n_insns) * UINT64_C(0x9e3779b97f4a7c15);
	struct known_block **bucket = &self.blocks[hash >> 48], *known;

	for (known = *bucket; known; known = known->next)
		if (known->block.place.address == block->place.address && known->block.n_insns == block->n_insns &&
		    known->block.place.function == block->place.function && known->block.place.flags == block->place.flags &&
		    known->block.begins_stage == block->begins_stage)
			return &known->block;
	known = malloc(sizeof *known);
	if (!known)
		return NULL;
	known->block = *block;
	known->next = *bucket;
	*bucket = known;
	return &known->block;
}

/* `first`: the instruction at the block's place. */
static void watch_flow(struct qemu_plugin_tb *tb, const struct block *block, size_t first)
{
	uint64_t start = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, first));
	bool thumb = in_thumb();

	for (size_t i = first; i < block->n_insns; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t address = qemu_plugin_insn_vaddr(insn);
		uint8_t code[16];
		struct instruction instruction = {
			.code = code,
			.size = qemu_plugin_insn_data(insn, code, sizeof code),
			.address = address,
			.next = block->place.address + address - start + qemu_plugin_insn_size(insn),
			.thumb = thumb,
		};
		uint64_t mark = place_mark(&self.profile, &block->place, &instruction);

		if (mark && self.several)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_flow, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)mark);
		else if (mark)
			qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, QEMU_PLUGIN_INLINE_STORE_U64, self.mark, mark);
	}
}

static void watch_hooks(struct qemu_plugin_tb *tb, const struct block *block)
{
	const struct config *config = self.profile.config;
	bool in_stage = block->place.flags & CODE_STAGE;

	for (size_t i = 0; i < config->n_hooks; i++)
		if (config->hooks[i].address == block->place.address && (config->hooks[i].kind == HOOK_RELOCATE) == in_stage)
			qemu_plugin_register_vcpu_tb_exec_cb(tb, on_hook, QEMU_PLUGIN_CB_R_REGS, &config->hooks[i]);
}

/* Whether a stage begins at the entry. A loader that UEFI calls is none: it runs above the firmware's frames, and may return. */
static bool begins_stage(const struct probe *entry, enum stage_kind *ret)
{
	return entry && stages_begin(entry->name, ret) &&
	       (entry->kind == PROBE_IMAGE || (entry->kind == PROBE_MOVED && *ret == STAGE_DECOMPRESSOR));
}

/* What the block at `tb` says of the machine as a whole. */
static void learn(const struct probe *entry, uint64_t address, const void *host, const uint64_t *slide, bool in_firmware)
{
	struct kernel_image *image = &self.profile.image;
	enum stage_kind begun;

	if (entry && entry->kind == PROBE_ENTRY && !image->entered) {
		kernel_image_enter(image, entry->address, address, host);
	} else if (!image->entered && begins_stage(entry, &begun)) {
		self.profile.stage = begun;
		if (in_firmware)
			self.profile.beneath = begun;
	}
	if (slide && !image->slide_final)
		kernel_image_fix_slide(image, *slide);
}

/*
 * Find the place of a block, and return which of its instructions is there. Not the first if that is in the padding in front of
 * a function: with call depth tracking (retbleed=stuff) calls go to the padding, and it runs on into the function.
 */
static size_t find_block(struct qemu_plugin_tb *tb, const struct vcpu *vcpu, struct block *ret)
{
	struct code_place place;

	for (size_t i = 0; i < ret->n_insns; i++) {
		const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		place_find(&self.profile, vcpu, qemu_plugin_insn_vaddr(insn), qemu_plugin_insn_haddr(insn), &place);
		if (i == 0)
			ret->place = place;
		if (place.role != ROLE_THUNK) {
			ret->place = place;
			return i;
		}
	}
	return 0;
}

void instrument_block(struct qemu_plugin_tb *tb, const struct probe *entry, const uint64_t *slide)
{
	enum stage_kind begun;
	struct block block = { .n_insns = (uint16_t)qemu_plugin_tb_n_insns(tb) }, *known;
	struct vcpu *vcpu;
	size_t first;

	if (!self.open)
		return;
	vcpu = &self.profile.vcpus[self.several ? machine_vcpu(self.machine) : 0];
	vcpu->in_firmware = block.in_firmware = in_machine_mode();
	learn(entry, qemu_plugin_tb_vaddr(tb), qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(tb, 0)), slide, vcpu->in_firmware);
	if (!self.profile.image.entered)
		stages_look(&self.profile.stages, &self.profile.guest, qemu_plugin_tb_vaddr(tb));
	first = find_block(tb, vcpu, &block);
	block.begins_stage = block.place.flags & CODE_STAGE && begins_stage(entry, &begun);
	block.enters = place_enters(self.profile.config, &block.place);
	known = remember(&block);
	if (!known)
		return;
	if (self.several)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, known);
	else if (!is_transparent(&block.place))
		qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_change, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_COND_NE, self.mark,
							  block.place.function, known);
	if (block.place.flags & (CODE_KERNEL | CODE_STAGE))
		watch_hooks(tb, known);
	if (block.place.role != ROLE_THUNK && block.place.role != ROLE_RETURN)
		watch_flow(tb, known, first);
}

int instrument_open(const struct config *config, struct machine *machine, const qemu_info_t *info, const char *path,
		    char *message, size_t message_size)
{
	const struct guest guest = { .read = read_guest, .narrow = config->arch == ARCH_ARMV7 };
	bool several = info->system.max_vcpus > 1;
	int r;

	if (!config->functions) {
		snprintf(message, message_size, "profile: the config has no functions line");
		return -EINVAL;
	}
	if (machine->shift < 0) {
		snprintf(message, message_size, "profile: needs the virtual clock, -icount shift=0,sleep=off");
		return -EINVAL;
	}
	if (several && (!machine_tells_vcpus(machine) || info->system.max_vcpus > PROFILE_VCPUS_MAX)) {
		snprintf(message, message_size, "profile: %d vCPUs: at most %d, and with a QEMU that exports qemu_get_cpu and current_cpu",
			 info->system.max_vcpus, PROFILE_VCPUS_MAX);
		return -ENOTSUP;
	}
	r = profile_open(config, guest, (unsigned)machine->shift, path, message, message_size, &self.profile);
	if (r)
		return r;
	self.machine = machine;
	self.bytes = g_byte_array_new();
	self.several = several;
	if (several) {
		self.marks = malloc(PROFILE_VCPUS_MAX * sizeof *self.marks);
		if (!self.marks)
			return -ENOMEM;
		for (int i = 0; i < PROFILE_VCPUS_MAX; i++)
			self.marks[i] = MARK_NOTHING;
	} else {
		self.mark = (qemu_plugin_u64){ qemu_plugin_scoreboard_new(sizeof *self.marks), 0 };
	}
	self.open = true;
	return 0;
}

void instrument_vcpu(unsigned int vcpu)
{
	static const char *const names[][HOOK_ARGUMENTS] = {
		[ARCH_X86_64] = { "rdi", "rsi", "rdx", "rcx", "r8" },
		[ARCH_AARCH64] = { "x0", "x1", "x2", "x3", "x4" },
		[ARCH_ARMV7] = { "r0", "r1", "r2", "r3", "sp" },
		[ARCH_RISCV64] = { "a0", "a1", "a2", "a3", "a4" },
	};
	GArray *all;

	if (!self.open || vcpu != 0)
		return;
	if (!self.several) {
		self.marks = qemu_plugin_scoreboard_find(self.mark.score, vcpu);
		*self.marks = MARK_NOTHING;
	}
	all = qemu_plugin_get_registers();
	for (unsigned i = 0; i < all->len; i++) {
		const qemu_plugin_reg_descriptor *descriptor = registers_described(all, i);

		for (int k = 0; k < HOOK_ARGUMENTS; k++)
			if (!strcmp(descriptor->name, names[self.profile.config->arch][k]))
				self.arguments[k] = descriptor->handle;
		if (!strcmp(descriptor->name, self.profile.config->arch == ARCH_RISCV64 ? "priv" : "cpsr"))
			self.state = descriptor->handle;
	}
	g_array_free(all, 1);
}

void instrument_charge(struct stamp before, struct stamp after)
{
	if (!self.open)
		return;
	profile_account(&self.profile, before);
	profile_account(&self.profile, after);
}

void instrument_charge_within(uint64_t ns)
{
	if (self.open)
		profile_charge_within(&self.profile, ns);
}

void instrument_trap(const struct trap *trap)
{
	if (self.open)
		profile_trap(&self.profile, trap);
}

void instrument_page(uint64_t page, enum profile_page_use use)
{
	if (self.open)
		profile_page(&self.profile, page, use);
}

void instrument_cut(const char *name, struct stamp at)
{
	if (self.open)
		profile_cut(&self.profile, name, at);
}

int instrument_close(struct stamp at)
{
	if (!self.open)
		return 0;
	self.open = false;
	return profile_close(&self.profile, at);
}
