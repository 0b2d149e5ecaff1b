/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes what KVM would answer into the registers behind CPUID, and into memory at the MSRs of kvmclock. */
#include "hypervisor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/traps.h"
#include "internals/symbols.h"
#include "internals/vcpu_state.h"
#include "recording.h"

enum {
	RAX, RCX, RDX, RBX,
	/* Linux, arch/x86/include/uapi/asm/kvm_para.h */
	LEAF_SIGNATURE = 0x40000000, LEAF_FEATURES = 0x40000001,
	MSR_WALL_CLOCK = 0x11, MSR_SYSTEM_TIME = 0x12, MSR_WALL_CLOCK_NEW = 0x4b564d00, MSR_SYSTEM_TIME_NEW = 0x4b564d01,
	CLOCK_ENABLED = 1, CLOCK_STABLE = 1,
	X2APIC_FIRST = 0x800, X2APIC_LAST = 0x8ff,
	/* 2024-01-01 00:00:00, as the real-time clock has it at power-on (bootlab/targets/qemu/argv.py) */
	POWER_ON_S = 1704067200,
};

/* struct pvclock_vcpu_time_info of arch/x86/include/asm/pvclock-abi.h */
struct clock_page {
	uint32_t version, pad;
	uint64_t tsc, ns;
	uint32_t multiplier;
	int8_t shift;
	uint8_t flags, pad2[2];
};

static struct {
	struct vcpu_state state;
	struct qemu_plugin_register *general[STATE_REGISTERS];
	void (*access_memory)(uint64_t address, void *bytes, uint64_t size, bool is_write);
	uint32_t leaf; /* of the CPUID that has just been executed: no other vCPU runs before its block ends */
	uint8_t *clock_flag; /* set ahead of an instruction that reads the clock, to be taken back behind it */
} self;

static void fail(const char *what)
{
	fprintf(stderr, "bootlab-plugin: machine.hypervisor: %s\n", what);
	exit(EXIT_FAILURE);
}

static void read_registers(uint64_t now[STATE_REGISTERS])
{
	for (int i = 0; i < STATE_REGISTERS; i++)
		now[i] = registers_read(self.general[i]);
}

static void find_registers(void)
{
	uint64_t now[STATE_REGISTERS];
	char message[256];

	read_registers(now);
	if (self.state.registers_at) {
		if (!vcpu_state_holds(&self.state, now))
			fail("the vCPU's registers are not where they were");
		return;
	}
	if (vcpu_state_open(message, sizeof message, &self.state) || vcpu_state_find(&self.state, now, message, sizeof message))
		fail(message);
}

static bool is_ours(uint32_t leaf)
{
	return leaf >> 8 == LEAF_SIGNATURE >> 8;
}

static void on_cpuid(unsigned int vcpu, void *userdata)
{
	(void)vcpu;
	self.leaf = (uint32_t)registers_read(self.general[RAX]);
	if (!is_ours(self.leaf))
		return;
	find_registers();
	if (userdata)
		fail("a CPUID ends its block, and nothing can be written behind it");
}

/* Ahead of the instruction behind CPUID. */
static void on_after_cpuid(unsigned int vcpu, void *userdata)
{
	uint64_t *registers;

	(void)vcpu;
	(void)userdata;
	if (!is_ours(self.leaf))
		return;
	registers = vcpu_state_registers(&self.state);
	/* "KVMKVMKVM", and the highest leaf: a range of leaves above it is another hypervisor's. */
	if (self.leaf == LEAF_SIGNATURE) {
		registers[RAX] = LEAF_FEATURES;
		registers[RBX] = 0x4b4d564b;
		registers[RCX] = 0x564b4d56;
		registers[RDX] = 0x4d;
	} else {
		registers[RAX] = self.leaf == LEAF_FEATURES ? recording.config.kvm_features : 0;
		registers[RBX] = registers[RCX] = registers[RDX] = 0;
	}
	self.leaf = 0;
}

/* What is written is read back: the function is proved each time. */
static void write_memory(uint64_t address, void *bytes, size_t size)
{
	uint8_t back[sizeof(struct clock_page)];

	self.access_memory(address, bytes, size, true);
	self.access_memory(address, back, size, false);
	if (memcmp(bytes, back, size))
		fail("cpu_physical_memory_rw does not write the guest's memory");
}

static void write_clock(uint32_t msr, uint64_t value)
{
	/* tsc * 2**1 * 2**31 / 2**32: the counter itself is the time. */
	struct clock_page page = { .version = 2, .multiplier = UINT32_C(1) << 31, .shift = 1, .flags = CLOCK_STABLE };
	uint32_t wall[3] = { 2, POWER_ON_S, 0 };

	if ((msr == MSR_SYSTEM_TIME || msr == MSR_SYSTEM_TIME_NEW) && value & CLOCK_ENABLED)
		write_memory(value & ~(uint64_t)CLOCK_ENABLED, &page, sizeof page);
	else if (msr == MSR_WALL_CLOCK || msr == MSR_WALL_CLOCK_NEW)
		write_memory(value, wall, sizeof wall);
}

/*
 * QEMU 10.0 does not translate RDMSR and WRMSR as I/O, but reads the clock in x2APIC's timer registers, and ends with "Bad icount
 * read" (docs/price.md). The flag allows it, for this instruction: the time that it reads is that of the end of its block.
 */
static void allow_clock(void)
{
	char message[256];

	if (!self.state.registers_at)
		find_registers();
	self.clock_flag = vcpu_state_clock_flag(&self.state, message, sizeof message);
	if (!self.clock_flag)
		fail(message);
	*self.clock_flag = 1;
}

static void on_msr(unsigned int vcpu, void *userdata)
{
	const struct trap_site *site = userdata;
	uint32_t msr = (uint32_t)registers_read(self.general[RCX]);

	(void)vcpu;
	/* One that QEMU took back itself: by now it may be another vCPU's. */
	self.clock_flag = NULL;
	if (site->kind == TRAP_WRMSR)
		write_clock(msr, registers_read(self.general[RDX]) << 32 | (uint32_t)registers_read(self.general[RAX]));
	if (msr >= X2APIC_FIRST && msr <= X2APIC_LAST)
		allow_clock();
}

static void on_after_msr(unsigned int vcpu, void *userdata)
{
	(void)vcpu;
	(void)userdata;
	if (self.clock_flag)
		*self.clock_flag = 0;
	self.clock_flag = NULL;
}

static void on_sample(unsigned int vcpu, void *userdata)
{
	(void)vcpu;
	if (!vcpu_state_is_sampled(&self.state))
		vcpu_state_sample(&self.state, userdata);
}

static void watch_insn(struct qemu_plugin_tb *tb, size_t i, size_t n_insns)
{
	static const struct trap_site rdmsr = { .kind = TRAP_RDMSR }, wrmsr = { .kind = TRAP_WRMSR };
	struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
	bool is_last = i + 1 == n_insns;
	struct trap_site site;
	uint8_t code[16];

	if (!x86_trap(code, qemu_plugin_insn_data(insn, code, sizeof code), &site))
		return;
	if (site.kind == TRAP_CPUID) {
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_cpuid, QEMU_PLUGIN_CB_R_REGS, is_last ? tb : NULL);
		if (!is_last)
			qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, i + 1), on_after_cpuid,
							       QEMU_PLUGIN_CB_RW_REGS, NULL);
	} else if (site.kind == TRAP_RDMSR || site.kind == TRAP_WRMSR) {
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_msr, QEMU_PLUGIN_CB_R_REGS,
						       (void *)(uintptr_t)(site.kind == TRAP_RDMSR ? &rdmsr : &wrmsr));
		/* In front of the last instruction QEMU itself sets the flag, and at the start of the next block takes it back. */
		if (i + 2 < n_insns)
			qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, i + 1), on_after_msr,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

void hypervisor_watch(struct qemu_plugin_tb *tb)
{
	size_t n_insns = qemu_plugin_tb_n_insns(tb);
	const struct vcpu_state *state = &self.state;

	if (!recording.config.kvm_features)
		return;
	for (size_t i = 0; i < n_insns; i++)
		watch_insn(tb, i, n_insns);
	if (!state->registers_at || n_insns < 2 || vcpu_state_is_sampled(state))
		return;
	qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, 0), on_sample, QEMU_PLUGIN_CB_NO_REGS, NULL);
	qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, n_insns - 1), on_sample, QEMU_PLUGIN_CB_NO_REGS, tb);
}

void hypervisor_vcpu(void)
{
	static const char *const names[STATE_REGISTERS] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi" };
	const struct wanted_symbol wanted[] = { { "cpu_physical_memory_rw", &self.access_memory } };
	char message[256];

	if (!recording.config.kvm_features)
		return;
	for (int i = 0; i < STATE_REGISTERS; i++)
		self.general[i] = registers_find_one(names[i]);
	if (symbols_find(wanted, 1, message, sizeof message))
		fail(message);
}
