/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts the random numbers that are drawn, and brings the row of a machine that goes on to where it was. */
#include "random_numbers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "code/instructions.h"
#include "internals/random_row.h"
#include "recording.h"

static const char STATE[] = "random-state";

static struct {
	uint64_t drawn; /* since power-on */
	bool began_anew, told;
} random_numbers;

/* Bytes that QEMU draws for one, whatever of them the instruction keeps (target/: helper_rdrand, rndr_readfn, rmw_seed). */
static size_t size_of_number(void)
{
	return recording.config.arch == ARCH_RISCV64 ? 2 : 8;
}

static int take_up(void)
{
	char message[256];
	struct random_row row;
	FILE *file = recording_open_resumed(STATE);
	int r = file ? 0 : -errno;

	if (file)
		r = random_row_read(file, machine_instructions(&recording.machine, 0), &random_numbers.drawn);
	if (file)
		fclose(file);
	if (!r)
		r = random_row_open(message, sizeof message, &row);
	return r ? r : random_row_pass(&row, random_numbers.drawn, size_of_number());
}

void random_numbers_open(void)
{
	random_numbers.began_anew = recording.config.n_past && take_up();
}

void random_numbers_keep(void)
{
	FILE *file = recording_open_state(STATE);
	int r = file && fprintf(file, "%" PRIu64 "\n", random_numbers.drawn) > 0 ? 0 : -errno;

	if (file && fclose(file) && !r)
		r = -errno;
	if (r)
		recording_tell_state_error(STATE, r);
}

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
	random_numbers.drawn++;
	if (random_numbers.began_anew && !random_numbers.told && !recording.stopped) {
		random_numbers.told = true;
		writer_refused(&recording.writer, "random", "the processor was asked for a number of a row that began anew");
	}
	pthread_mutex_unlock(&recording.lock);
}

void random_numbers_watch(struct qemu_plugin_tb *tb, size_t n_insns)
{
	uint8_t code[16];

	bool counts = recording.state || recording.config.n_past;

	for (size_t i = 0; counts && i < n_insns; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (draws(code, qemu_plugin_insn_data(insn, code, sizeof code)))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_draw, QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}
