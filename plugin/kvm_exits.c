/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts callbacks at instructions that may leave a guest of KVM, and behind every access to memory: a page that is touched
 * first faults in the host, and a device's registers are its emulator's.
 */
#include "kvm_exits.h"

#include <errno.h>

#include "arm64_exits.h"
#include "exit_account.h"
#include "recording.h"
#include "x86_exits.h"

static struct {
	bool wanted;
	bool on; /* it is proved to work, and done */
} self;

static void watch_insn(struct qemu_plugin_insn *insn)
{
	qemu_plugin_register_vcpu_mem_cb(insn, exit_account_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
	if (recording.config.arch == ARCH_AARCH64)
		arm64_exits_watch(insn);
	else
		x86_exits_watch(insn);
}

void kvm_exits_watch(struct qemu_plugin_tb *tb)
{
	size_t n_insns = qemu_plugin_tb_n_insns(tb);

	if (!self.on)
		return;
	exit_account_watch_code(tb, n_insns);
	for (size_t i = 0; i < n_insns; i++)
		watch_insn(qemu_plugin_tb_get_insn(tb, i));
}

int kvm_exits_open(bool profiled, int n_vcpus)
{
	bool counts = profiled && recording.config.count_traps, prices_asked = config_prices(&recording.config);
	int r = 0;

	self.wanted = counts || prices_asked;
	if (self.wanted)
		r = exit_account_open(counts, prices_asked, n_vcpus);
	if (self.wanted && !r && recording.config.arch == ARCH_AARCH64)
		r = arm64_exits_open(n_vcpus);
	return r ? r : prices_init(&recording.config, &recording.prices);
}

void kvm_exits_vcpu(void)
{
	if (!self.wanted)
		return;
	if (recording.config.arch == ARCH_AARCH64)
		arm64_exits_vcpu();
	else
		x86_exits_vcpu();
}

void kvm_exits_start(uint64_t address)
{
	char message[512] = "needs the virtual clock, -icount shift=0,sleep=off";
	int r = -ENOTSUP;

	if (!self.wanted)
		return;
	if (recording.machine.shift >= 0)
		r = exit_account_prove(address, message, sizeof message);
	pthread_mutex_lock(&recording.lock);
	self.on = !r;
	if (r)
		writer_refused(&recording.writer, "traps", message);
	else
		writer_exact(&recording.writer, "traps");
	pthread_mutex_unlock(&recording.lock);
}
