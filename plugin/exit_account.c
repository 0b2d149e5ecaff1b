/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts each trap and each first touch, charges the clock for it, and remembers which pages were seen, so that most accesses
 * to memory need no more than a comparison.
 *
 * All of it is called in the midst of blocks, where the clock cannot be read. Nothing here reads it.
 */
#include "exit_account.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instrument.h"
#include "internals/code_page.h"
#include "recording.h"

enum {
	PAGE_BITS = 12, PAGE_SIZE = 1 << PAGE_BITS,
	SEEN = 1 << 12,
	/* No access of one instruction that is told as one is longer. */
	ACCESS_MAX = 64,
	GENERATION_BITS = 19,
	PENDING = 8,
};

static struct {
	bool counts, prices_asked; /* what is wanted */
	struct code_pages code_pages;
	struct touched_memory touched;
	/*
	 * Virtual pages that were touched already, with the generation in the low bits: a page's number has 45 bits even with five
	 * levels of page tables, and its sign; what tags arm64 programs have above are the same page's. Whatever may change a mapping
	 * begins a new generation.
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

void exit_account_forget_mappings(void)
{
	self.generation = (self.generation + 1) & ((1 << GENERATION_BITS) - 1);
	if (!self.generation)
		memset(self.seen, 0xff, (size_t)self.n_vcpus * sizeof *self.seen);
}

void exit_account_watch_site(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_udata_cb_t taken, const void *site, size_t size)
{
	void *kept = malloc(size);

	if (!kept) {
		fprintf(stderr, "bootlab-plugin: out of memory\n");
		exit(EXIT_FAILURE);
	}
	memcpy(kept, site, size);
	qemu_plugin_register_vcpu_insn_exec_cb(insn, taken, QEMU_PLUGIN_CB_R_REGS, kept);
}

static void charge(uint64_t ns)
{
	if (!ns || !recording.clock_charged || recording.stopped)
		return;
	charged_clock_add(&recording.clock, (int64_t)ns);
	recording.machine.charged_ns += (int64_t)ns;
	instrument_charge_within(ns);
}

void exit_account_take(const struct trap *trap)
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

		exit_account_take(&lost);
		return;
	}
	if (self.counts)
		instrument_page(address >> PAGE_BITS, use);
	if (self.prices_asked && !recording.stopped)
		charge(prices_add_touch(&recording.prices, address, touched));
}

static uint64_t *seen_at(struct seen *seen, bool store, uint64_t address)
{
	return &seen->pages[store][(address >> PAGE_BITS) % SEEN];
}

static uint64_t seen_value(uint64_t address)
{
	return address >> PAGE_BITS << GENERATION_BITS | self.generation;
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

		exit_account_take(&trap);
		return;
	}
	*seen_at(seen, store, address) = seen_value(address);
	take_touch(physical, store ? PAGE_WRITTEN : PAGE_READ, touched_memory_add(&self.touched, physical));
}

/* Behind every access: most of what a boot with a profile takes besides is spent here. */
void exit_account_access(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)
{
	struct seen *seen = &self.seen[vcpu];
	uint64_t last;

	(void)userdata;
	if (*seen_at(seen, qemu_plugin_mem_is_store(info), address) == seen_value(address) &&
	    (address & (PAGE_SIZE - 1)) <= PAGE_SIZE - ACCESS_MAX)
		return;
	touch_data(seen, info, address);
	last = address + (UINT64_C(1) << qemu_plugin_mem_size_shift(info)) - 1;
	if (last >> PAGE_BITS != address >> PAGE_BITS)
		touch_data(seen, info, last & ~(uint64_t)(PAGE_SIZE - 1));
}

void exit_account_write(unsigned vcpu, uint64_t address)
{
	uint64_t *seen = seen_at(&self.seen[vcpu], true, address);
	uint64_t page;

	/* Where no page is, the guest gets an exception, and writes again once there is one. */
	if (*seen == seen_value(address) || !code_page_find(&self.code_pages, address, &page))
		return;
	*seen = seen_value(address);
	take_touch(page, PAGE_WRITTEN, touched_memory_add(&self.touched, page));
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
void exit_account_watch_code(struct qemu_plugin_tb *tb, size_t n_insns)
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

int exit_account_open(bool counts, bool prices_asked, int n_vcpus)
{
	self.counts = counts;
	self.prices_asked = prices_asked;
	self.seen = malloc((size_t)n_vcpus * sizeof *self.seen);
	if (!self.seen)
		return -ENOMEM;
	self.n_vcpus = n_vcpus;
	memset(self.seen, 0xff, (size_t)n_vcpus * sizeof *self.seen);
	return 0;
}

int exit_account_prove(uint64_t address, char *message, size_t message_size)
{
	return code_pages_open(address, message, message_size, &self.code_pages);
}
