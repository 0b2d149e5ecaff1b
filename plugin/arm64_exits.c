/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What arm64's instructions do to a guest of KVM: reads the registers that say what a trap is of, ahead of the instruction. */
#include "arm64_exits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "code/arm64_traps.h"
#include "exit_account.h"
#include "recording.h"

enum {
	GENERAL = 31, /* the next one reads as 0 */
	PSTATE_EL = 0xc,
	PSTATE_A32 = 1 << 4,
	SCTLR_M_C = 1 << 0 | 1 << 2,
};

static struct {
	struct qemu_plugin_register *general[GENERAL], *state;
	/* Of each vCPU: MMU and caches have been on. KVM watches the registers of virtual memory until then (HCR_EL2.TVM). */
	bool *cached;
} self;

static uint64_t general(unsigned number)
{
	return number < GENERAL ? registers_read(self.general[number]) : 0;
}

/* QEMU's own number in a callback may be that of the vCPU for which the block was translated. */
static unsigned running(unsigned vcpu)
{
	return machine_tells_vcpus(&recording.machine) ? machine_vcpu(&recording.machine) : vcpu;
}

static void take_effects(unsigned vcpu, const struct arm64_trap_site *site)
{
	if (site->effects & ARM64_MAPPING)
		exit_account_forget_mappings();
	if (site->effects & ARM64_SET_WAY)
		self.cached[vcpu] = false;
	if (site->effects & ARM64_SCTLR && (general(site->general) & SCTLR_M_C) == SCTLR_M_C)
		self.cached[vcpu] = true;
}

/* Before the instruction, with the vCPU's registers at hand. */
static void on_trap(unsigned int translated_for, void *userdata)
{
	const struct arm64_trap_site *site = userdata;
	struct trap trap = { .kind = site->kind, .number = site->number };
	uint64_t state = registers_read(self.state);
	unsigned vcpu = running(translated_for);

	/* In 32-bit programs the same bytes are other instructions. */
	if (state & PSTATE_A32 || (!site->by_users && !(state & PSTATE_EL)))
		return;
	if (site->kind == TRAP_HVC || site->kind == TRAP_SMC)
		trap.number |= (uint32_t)general(0);
	if (site->kind == TRAP_SYSREG_WRITE && !self.cached[vcpu])
		trap.state = TRAP_CACHES_OFF;
	take_effects(vcpu, site);
	exit_account_take(&trap);
}

/* The whole block lies in the page of its address: QEMU clears it in a helper that tells no memory callback. */
static void on_clear(unsigned int translated_for, void *userdata)
{
	if (!(registers_read(self.state) & PSTATE_A32))
		exit_account_write(running(translated_for), general((unsigned)(uintptr_t)userdata));
}

void arm64_exits_watch(struct qemu_plugin_insn *insn)
{
	uint8_t code[4], cleared;
	size_t size = qemu_plugin_insn_data(insn, code, sizeof code);
	struct arm64_trap_site site;

	if (qemu_plugin_insn_size(insn) != sizeof code)
		return;
	if (arm64_clears(code, size, &cleared)) {
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_clear, QEMU_PLUGIN_CB_R_REGS, (void *)(uintptr_t)cleared);
		return;
	}
	if (arm64_trap(code, size, &site))
		exit_account_watch_site(insn, on_trap, &site, sizeof site);
}

void arm64_exits_vcpu(void)
{
	for (unsigned i = 0; i < GENERAL; i++) {
		char name[8];

		snprintf(name, sizeof name, "x%u", i);
		self.general[i] = registers_find_one(name);
	}
	self.state = registers_find_one("cpsr");
}

int arm64_exits_open(int n_vcpus)
{
	self.cached = calloc((size_t)n_vcpus, sizeof *self.cached);
	return self.cached ? 0 : -ENOMEM;
}
