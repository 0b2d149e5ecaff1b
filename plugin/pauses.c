/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells QEMU's helper for PAUSE where blocks end that reach it, and when it has to be QEMU's own. */
#include "pauses.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/instructions.h"
#include "internals/quick_pause.h"
#include "recording.h"

/* Below, code may be of real mode, which proves nothing: where it lies is not RIP alone. */
static const uint64_t REAL_MODE_END = 1 << 20;

static bool open, tells;

static void tell_it_is_slow(const char *why)
{
	fprintf(stderr, "bootlab-plugin: spin loops take this host longer than they need: %s\n", why);
}

static void on_expected(unsigned int vcpu, void *userdata)
{
	(void)vcpu;
	if (quick_pause_asks())
		quick_pause_expect((uintptr_t)userdata);
}

static void on_shadow(unsigned int vcpu, void *userdata)
{
	(void)vcpu;
	(void)userdata;
	quick_pause_leave_next();
}

void pauses_open(const qemu_info_t *info)
{
	const char *chosen = getenv("BOOTLAB_QEMU_PAUSE");
	char message[256];

	/* Without -icount how often a guest spins is what its host makes of it, and with more vCPUs the others wait. */
	if (recording.config.arch != ARCH_X86_64 || recording.machine.shift < 0 || info->system.max_vcpus != 1)
		return;
	if (chosen && strcmp(chosen, "own") && strcmp(chosen, "told"))
		fprintf(stderr, "bootlab-plugin: BOOTLAB_QEMU_PAUSE=%s: knows own and told\n", chosen);
	if (chosen && !strcmp(chosen, "own"))
		return;
	/* It may do more in its helper. */
	if (info->version.cur > QEMU_PLUGIN_LAST_VERSION) {
		tell_it_is_slow("this QEMU is newer than all that were looked at");
		return;
	}
	tells = chosen && !strcmp(chosen, "told");
	open = !quick_pause_open(message, sizeof message);
	if (!open)
		tell_it_is_slow(message);
}

void pauses_watch(struct qemu_plugin_tb *tb, size_t n_insns)
{
	struct qemu_plugin_insn *last;
	uint64_t end;
	uint8_t code[16];
	size_t size;

	if (!open)
		return;
	last = qemu_plugin_tb_get_insn(tb, n_insns - 1);
	size = qemu_plugin_insn_data(last, code, sizeof code);
	end = qemu_plugin_insn_vaddr(last) + qemu_plugin_insn_size(last);
	/* QEMU ends a block at each of these. */
	if (x86_may_shadow(code, size))
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_shadow, QEMU_PLUGIN_CB_NO_REGS, NULL);
	if (x86_may_pause(code, size) && end >= REAL_MODE_END && quick_pause_asks())
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_expected, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)end);
}

void pauses_close(void)
{
	struct quick_pause_counts counts = quick_pause_counts();

	if (tells)
		fprintf(stderr, "bootlab-plugin: %" PRIu64 " PAUSEs went on at once, %" PRIu64 " around all vCPUs\n", counts.ours,
			counts.qemus);
}
