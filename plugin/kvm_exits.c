/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts callbacks at instructions that may leave a guest of KVM, and behind every access to memory: a page that is touched
 * first faults in the host, and a device's registers are its emulator's.
 *
 * These callbacks are in the midst of blocks, where the clock cannot be read. Nothing here reads it.
 */
#include "kvm_exits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/traps.h"
#include "instrument.h"
#include "internals/code_page.h"
#include "recording.h"

enum {
	PAGE_BITS = 12, PAGE_SIZE = 1 << PAGE_BITS,
	SEEN = 1 << 12,
	/* No access of one instruction that is told as one is longer. */
	ACCESS_MAX = 64,
	GENERATION_BITS = 19,
	GENERAL = 16,
	RAX = 0, RCX = 1, RDX = 2,
	MSR_EFER = 0xc0000080,
	PENDING = 8,
};

static const uint64_t CR0_CACHES_OFF = UINT64_C(3) << 29;

static struct {
	bool counts, prices_asked; /* what is wanted */
	bool on; /* it is proved to work, and done */
	struct code_pages code_pages;
	struct touched_memory touched;
	struct qemu_plugin_register *general[GENERAL], *cr0, *cr4;
	/*
	 * Virtual pages that were touched already, with the generation in the low bits: a page's number has 45 bits even with five
	 * levels of page tables, and its sign. Whatever may change a mapping begins a new generation.
	 */
	struct seen {
		uint64_t pages[2][SEEN]; /* read, written */
	} *seen; /* of each vCPU, as each has its own mappings */
	int n_vcpus;
	uint64_t generation;
	struct pending {
		uint64_t address;
		enum touched touched;
	} pending[PENDING]; /* of code that is translated and about to run */
	unsigned n_pending;
} self;

static void forget_seen(void)
{
	self.generation = (self.generation + 1) & ((1 << GENERATION_BITS) - 1);
	if (!self.generation)
		memset(self.seen, 0xff, (size_t)self.n_vcpus * sizeof *self.seen);
}

static void charge(uint64_t ns)
{
	if (!ns || !recording.clock_charged || recording.stopped)
		return;
	charged_clock_add(&recording.clock, (int64_t)ns);
	recording.machine.charged_ns += (int64_t)ns;
	instrument_charge_within(ns);
}

static void take_trap(const struct trap *trap)
{
	if (self.counts)
		instrument_trap(trap);
	if (self.prices_asked && !recording.stopped)
		charge(prices_add_trap(&recording.prices, trap));
}

static void take_touch(uint64_t address, enum profile_page_use use, enum touched touched)
{
	if (touched == TOUCHED_BEFORE)
		return;
	if (touched == TOUCHED_UNKNOWN) {
		const struct trap lost = { .kind = TRAP_LOST };

		take_trap(&lost);
		return;
	}
	if (self.counts)
		instrument_page(address >> PAGE_BITS, use);
	if (self.prices_asked && !recording.stopped)
		charge(prices_add_touch(&recording.prices, address, touched));
}

static uint64_t general(unsigned number)
{
	return registers_read(self.general[number & (GENERAL - 1)]);
}

/* Before the instruction, with the vCPU's registers at hand. */
static void on_trap(unsigned int vcpu, void *userdata)
{
	const struct trap_site *site = userdata;
	struct trap trap = { .kind = site->kind };
	uint64_t cr0;

	(void)vcpu;
	switch (site->kind) {
	case TRAP_IN: case TRAP_OUT: case TRAP_INS: case TRAP_OUTS:
		trap.number = site->has_port ? site->port : (uint16_t)general(RDX);
		break;
	case TRAP_CPUID: case TRAP_HYPERCALL:
		trap.number = (uint32_t)general(RAX);
		break;
	case TRAP_RDMSR: case TRAP_WRMSR:
		trap.number = (uint32_t)general(RCX);
		if (site->kind == TRAP_WRMSR && trap.number == MSR_EFER)
			forget_seen();
		break;
	case TRAP_CR_READ: case TRAP_CR_WRITE:
		trap.number = site->control;
		cr0 = registers_read(self.cr0);
		trap.state = cr0 & CR0_CACHES_OFF ? TRAP_CACHES_OFF : 0;
		if (site->kind == TRAP_CR_READ)
			break;
		if (site->control == 0)
			trap.changes = (uint32_t)(cr0 ^ general(site->general));
		else if (site->control == 4)
			trap.changes = (uint32_t)(registers_read(self.cr4) ^ general(site->general));
		forget_seen();
		break;
	default:
		break;
	}
	take_trap(&trap);
}

static void on_new_mapping(unsigned int vcpu, void *userdata)
{
	(void)vcpu;
	(void)userdata;
	forget_seen();
}

static void touch_data(struct seen *seen, qemu_plugin_meminfo_t info, uint64_t address)
{
	struct qemu_plugin_hwaddr *at = qemu_plugin_get_hwaddr(info, address);
	bool store = qemu_plugin_mem_is_store(info);
	uint64_t physical;

	if (!at)
		return;
	physical = qemu_plugin_hwaddr_phys_addr(at);
	if (qemu_plugin_hwaddr_is_io(at)) {
		const struct trap trap = { .kind = store ? TRAP_MMIO_WRITE : TRAP_MMIO_READ, .number = physical & ~UINT64_C(3) };

		take_trap(&trap);
		return;
	}
	seen->pages[store][(address >> PAGE_BITS) % SEEN] = address >> PAGE_BITS << GENERATION_BITS | self.generation;
	take_touch(physical, store ? PAGE_WRITTEN : PAGE_READ, touched_memory_add(&self.touched, physical));
}

/* Behind every access: most of what a boot with a profile takes besides is spent here. */
static void on_access(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)
{
	struct seen *seen = &self.seen[vcpu];
	uint64_t page = address >> PAGE_BITS;
	uint64_t last;

	(void)userdata;
	if (seen->pages[qemu_plugin_mem_is_store(info)][page % SEEN] == (page << GENERATION_BITS | self.generation) &&
	    (address & (PAGE_SIZE - 1)) <= PAGE_SIZE - ACCESS_MAX)
		return;
	touch_data(seen, info, address);
	last = address + (UINT64_C(1) << qemu_plugin_mem_size_shift(info)) - 1;
	if (last >> PAGE_BITS != page)
		touch_data(seen, info, last & ~(uint64_t)(PAGE_SIZE - 1));
}

/* At the start of the block, once what it is part of is known to the profile. */
static void on_first_run(unsigned int vcpu, void *userdata)
{
	(void)vcpu;
	(void)userdata;
	for (unsigned i = 0; i < self.n_pending; i++)
		take_touch(self.pending[i].address, PAGE_EXECUTED, self.pending[i].touched);
	self.n_pending = 0;
}

/* Code is read as it is translated, right ahead of its first run. */
static void touch_code(struct qemu_plugin_tb *tb, size_t n_insns)
{
	uint64_t latest = ~UINT64_C(0), address;

	for (size_t i = 0; i < n_insns; i++) {
		const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t start = qemu_plugin_insn_vaddr(insn), end = start + qemu_plugin_insn_size(insn) - 1;

		for (uint64_t page = start >> PAGE_BITS; page <= end >> PAGE_BITS; page++) {
			enum touched touched;

			if (page == latest || !code_page_find(&self.code_pages, page << PAGE_BITS, &address))
				continue;
			latest = page;
			touched = touched_memory_add(&self.touched, address);
			if (touched != TOUCHED_BEFORE && self.n_pending < PENDING)
				self.pending[self.n_pending++] = (struct pending){ address, touched };
		}
	}
	if (self.n_pending)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_first_run, QEMU_PLUGIN_CB_NO_REGS, NULL);
}

/* invlpg and invpcid: no trap with nested paging, but a page may lie elsewhere from then on. */
static bool changes_mapping(const uint8_t *code, size_t size)
{
	size_t i = 0;

	while (i < size && (code[i] == 0x66 || code[i] == 0x67 || (code[i] & 0xf0) == 0x40 || code[i] == 0x65 || code[i] == 0x64))
		i++;
	if (i + 2 >= size || code[i] != 0x0f)
		return false;
	return (code[i + 1] == 0x01 && (code[i + 2] >> 3 & 7) == 7) || (code[i + 1] == 0x38 && code[i + 2] == 0x82);
}

static void watch_insn(struct qemu_plugin_insn *insn)
{
	uint8_t code[16];
	size_t size = qemu_plugin_insn_data(insn, code, sizeof code);
	struct trap_site site, *kept;

	qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
	if (changes_mapping(code, size))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_new_mapping, QEMU_PLUGIN_CB_NO_REGS, NULL);
	if (!x86_trap(code, size, &site))
		return;
	/* Kept for ever, as QEMU may run the block until it forgets it, and does not say when: a few hundred of them. */
	kept = malloc(sizeof *kept);
	if (!kept) {
		fprintf(stderr, "bootlab-plugin: out of memory\n");
		exit(EXIT_FAILURE);
	}
	*kept = site;
	qemu_plugin_register_vcpu_insn_exec_cb(insn, on_trap, QEMU_PLUGIN_CB_R_REGS, kept);
}

void kvm_exits_watch(struct qemu_plugin_tb *tb)
{
	size_t n_insns = qemu_plugin_tb_n_insns(tb);

	if (!self.on)
		return;
	touch_code(tb, n_insns);
	for (size_t i = 0; i < n_insns; i++)
		watch_insn(qemu_plugin_tb_get_insn(tb, i));
}

int kvm_exits_open(bool profiled, int n_vcpus)
{
	self.counts = profiled && recording.config.count_traps;
	self.prices_asked = config_prices(&recording.config);
	if (self.counts || self.prices_asked) {
		self.seen = malloc((size_t)n_vcpus * sizeof *self.seen);
		if (!self.seen)
			return -ENOMEM;
		self.n_vcpus = n_vcpus;
		memset(self.seen, 0xff, (size_t)n_vcpus * sizeof *self.seen);
	}
	return prices_init(&recording.config, &recording.prices);
}

void kvm_exits_vcpu(void)
{
	static const char *const names[GENERAL] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
						    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15" };

	if (!self.counts && !self.prices_asked)
		return;
	for (size_t i = 0; i < GENERAL; i++)
		self.general[i] = registers_find_one(names[i]);
	self.cr0 = registers_find_one("cr0");
	self.cr4 = registers_find_one("cr4");
}

void kvm_exits_start(uint64_t address)
{
	char message[512] = "needs the virtual clock, -icount shift=0,sleep=off";
	int r = -ENOTSUP;

	if (!self.counts && !self.prices_asked)
		return;
	if (recording.machine.shift >= 0)
		r = code_pages_open(address, message, sizeof message, &self.code_pages);
	pthread_mutex_lock(&recording.lock);
	self.on = !r;
	if (r)
		writer_refused(&recording.writer, "traps", message);
	else
		writer_exact(&recording.writer, "traps");
	pthread_mutex_unlock(&recording.lock);
}
