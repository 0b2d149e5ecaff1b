/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes to the trace, once, that a random number was drawn. */
#include "random_numbers.h"

#include "code/instructions.h"
#include "recording.h"

static bool told;

static bool draws(const uint8_t *code, size_t size)
{
	switch (recording.config.arch) {
	case ARCH_X86_64:
		return x86_draws_random(code, size);
	case ARCH_AARCH64:
		return aarch64_draws_random(code, size);
	case ARCH_RISCV64:
		return riscv_draws_random(code, size);
	case ARCH_ARMV7:
	case ARCH_NONE:
		break;
	}
	return false;
}

static void on_draw(unsigned int vcpu, void *userdata)
{
	(void)vcpu;
	(void)userdata;
	pthread_mutex_lock(&recording.lock);
	if (!told && !recording.stopped) {
		told = true;
		writer_refused(&recording.writer, "random", "the processor was asked for a number of a row that began anew");
	}
	pthread_mutex_unlock(&recording.lock);
}

void random_numbers_watch(struct qemu_plugin_tb *tb, size_t n_insns)
{
	uint8_t code[16];

	for (size_t i = 0; recording.config.n_past && i < n_insns; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (draws(code, qemu_plugin_insn_data(insn, code, sizeof code)))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_draw, QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}
