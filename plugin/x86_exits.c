/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What x86-64's instructions do to a guest of KVM: reads the registers that say what a trap is of, ahead of the instruction. */
#include "x86_exits.h"

#include "code/traps.h"
#include "exit_account.h"
#include "registers.h"

enum {
	GENERAL = 16,
	RAX = 0, RCX = 1, RDX = 2,
	MSR_EFER = 0xc0000080,
};

static const uint64_t CR0_CACHES_OFF = UINT64_C(3) << 29;

static struct {
	struct qemu_plugin_register *general[GENERAL], *cr0, *cr4;
} self;

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
			exit_account_forget_mappings();
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
		exit_account_forget_mappings();
		break;
	default:
		break;
	}
	exit_account_take(&trap);
}

static void on_new_mapping(unsigned int vcpu, void *userdata)
{
	(void)vcpu;
	(void)userdata;
	exit_account_forget_mappings();
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

void x86_exits_watch(struct qemu_plugin_insn *insn)
{
	uint8_t code[16];
	size_t size = qemu_plugin_insn_data(insn, code, sizeof code);
	struct trap_site site;

	if (changes_mapping(code, size))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_new_mapping, QEMU_PLUGIN_CB_NO_REGS, NULL);
	if (x86_trap(code, size, &site))
		exit_account_watch_site(insn, on_trap, &site, sizeof site);
}

void x86_exits_vcpu(void)
{
	static const char *const names[GENERAL] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
						    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15" };

	for (size_t i = 0; i < GENERAL; i++)
		self.general[i] = registers_find_one(names[i]);
	self.cr0 = registers_find_one("cr0");
	self.cr4 = registers_find_one("cr4");
}
