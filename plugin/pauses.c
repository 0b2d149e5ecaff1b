/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells QEMU's helper for PAUSE where blocks end that reach it, and which of them need QEMU's own. */
#include "pauses.h"

#include <stdio.h>

#include "code/instructions.h"
#include "internals/quick_pause.h"

/*
 * Behind STI and a load of SS, interrupts wait for one more instruction, which QEMU translates as a block of its own. Should that
 * be a PAUSE, QEMU's helper ends their wait, and ours does not know how. So the places behind such instructions are kept, by a hash:
 * where two are alike, the host takes its longer way once too often.
 */
enum { PLACES_LOG2 = 16, WORD_LOG2 = 6 };

/* Code of real mode proves nothing: where it lies is not RIP alone. */
static const uint64_t REAL_MODE = 1 << 20;

static uint64_t shadowed[1 << (PLACES_LOG2 - WORD_LOG2)];
static bool open;

static uint64_t *find_word(uint64_t address, uint64_t *ret_bit)
{
	uint64_t place = address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PLACES_LOG2);

	*ret_bit = UINT64_C(1) << (place & ((1 << WORD_LOG2) - 1));
	return &shadowed[place >> WORD_LOG2];
}

static void on_expected(unsigned int vcpu, void *userdata)
{
	(void)vcpu;
	if (quick_pause_asks())
		quick_pause_expect((uintptr_t)userdata);
}

static void on_shadowed(unsigned int vcpu, void *userdata)
{
	(void)vcpu;
	(void)userdata;
	quick_pause_spare();
}

void pauses_open(const qemu_info_t *info, const struct config *config)
{
	char message[256];

	if (config->arch != ARCH_X86_64 || info->system.max_vcpus != 1)
		return;
	open = !quick_pause_open(message, sizeof message);
	if (!open)
		fprintf(stderr, "bootlab-plugin: spin loops take this host longer than they need, and measure the same: %s\n", message);
}

void pauses_watch(struct qemu_plugin_tb *tb, size_t n_insns)
{
	struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, n_insns - 1);
	uint64_t end = qemu_plugin_insn_vaddr(last) + qemu_plugin_insn_size(last), *word, bit;
	uint8_t code[16];
	size_t size;

	if (!open)
		return;
	size = qemu_plugin_insn_data(last, code, sizeof code);
	if (x86_holds_interrupts(code, size)) {
		word = find_word(end, &bit);
		*word |= bit;
	}
	if (!x86_is_pause(code, size))
		return;
	word = find_word(qemu_plugin_tb_vaddr(tb), &bit);
	if (n_insns == 1 && *word & bit)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_shadowed, QEMU_PLUGIN_CB_NO_REGS, NULL);
	if (end >= REAL_MODE && quick_pause_asks())
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_expected, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)end);
}
