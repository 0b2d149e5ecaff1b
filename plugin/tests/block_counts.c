/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU TCG plugin for tests: how often each translated block ran, with no notion of functions, calls or tasks.
 *
 * A second opinion on the profile: what a function executed is the sum over its blocks. Differs from the truth only where
 * an exception ends a block early. Written at exit, in the order of translation, `ADDRESS HOST INSTRUCTIONS EXECUTIONS`
 * a line: HOST is where the code lies in QEMU's memory, for a block that x86 shares between two mappings.
 *
 *   -plugin block-counts.so,out=FILE
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin_api.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_FIRST_VERSION;

struct block {
	uint64_t address, executions;
	const void *host;
	size_t n_insns;
	struct block *next;
};

static struct block *first, **last = &first;
static const char *path;

static void on_execution(unsigned int vcpu, void *userdata)
{
	struct block *block = userdata;

	(void)vcpu;
	block->executions++;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	struct block *block = calloc(1, sizeof *block);

	(void)id;
	if (!block)
		abort();
	block->address = qemu_plugin_tb_vaddr(tb);
	block->n_insns = qemu_plugin_tb_n_insns(tb);
	block->host = qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(tb, 0));
	*last = block;
	last = &block->next;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_execution, QEMU_PLUGIN_CB_NO_REGS, block);
}

static void on_exit(qemu_plugin_id_t id, void *userdata)
{
	FILE *file = fopen(path, "w");

	(void)id;
	(void)userdata;
	if (!file)
		abort();
	for (struct block *block = first; block; block = block->next)
		if (block->executions)
			fprintf(file, "%" PRIx64 " %" PRIxPTR " %zu %" PRIu64 "\n", block->address, (uintptr_t)block->host,
				block->n_insns, block->executions);
	if (fclose(file))
		abort();
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4))
		return -1;
	path = strdup(argv[0] + 4);
	/* Of the interface that this plugin asks for, callbacks have the plugin's number first. */
	qemu_plugin_register_vcpu_tb_trans_cb(id, (qemu_plugin_any_cb_t)on_translation, NULL);
	qemu_plugin_register_atexit_cb(id, (qemu_plugin_any_cb_t)on_exit, NULL);
	return 0;
}
