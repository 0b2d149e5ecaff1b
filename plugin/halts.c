/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the clock at the start of each block that ends in a halt: QEMU counts the block as it is entered, and then all before. */
#include "halts.h"

#include "code/instructions.h"
#include "recording.h"

static bool is_halt(const uint8_t *code, size_t size)
{
	struct flow_target target;

	switch (recording.config.arch) {
	case ARCH_X86_64:
		return x86_flow(code, size, &target) == FLOW_HALT;
	case ARCH_AARCH64:
		return aarch64_flow(code, size, &target) == FLOW_HALT;
	case ARCH_RISCV64:
		return riscv_flow(code, size, &target) == FLOW_HALT;
	case ARCH_ARMV7:
		/* Whichever it is: to read the clock once more than is needed does no harm. */
		return arm_flow(code, size, false, &target) == FLOW_HALT || arm_flow(code, size, true, &target) == FLOW_HALT;
	case ARCH_NONE:
		break;
	}
	return false;
}

/*
 * Behind a halt QEMU wakes its main loop, which moves the idle clock on. From 10.2 on that loop watches its notifier by
 * io_uring, and what we have done of its work on the vCPU's thread (doorbells.c) may have taken the watch away: it asked for
 * the next one in the ring's memory alone, while the loop sleeps. GLib's own way to wake a loop does not go by the ring.
 */
static bool wakes;

static void on_halting_block(unsigned int vcpu, void *userdata)
{
	(void)vcpu;
	(void)userdata;
	machine_now(&recording.machine, 0);
	if (wakes)
		g_main_context_wakeup(NULL);
}

void halts_open(const qemu_info_t *info)
{
	wakes = info->version.cur >= QEMU_PLUGIN_IO_URING_VERSION;
}

void halts_watch(struct qemu_plugin_tb *tb, size_t n_insns)
{
	struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, n_insns - 1);
	uint8_t code[16];

	if (recording.machine.shift >= 0 && is_halt(code, qemu_plugin_insn_data(last, code, sizeof code)))
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_halting_block, QEMU_PLUGIN_CB_NO_REGS, NULL);
}
