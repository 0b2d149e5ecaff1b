/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watches the guest's writes to its serial port and reports each line's end to the trace. */
#include "console.h"

#include "instrument.h"
#include "recording.h"
#include "uart.h"

enum { X86_OUT_DX_AL = 0xee };

static struct {
	struct uart uart;
	struct stamp out_block, sent; /* entry of the block with the latest `out`; when the latest byte was sent */
	struct disk_count reads[COUNTED_DISKS_MAX]; /* up to then */
} console;

void console_open(uint16_t port)
{
	console.uart.port = port;
}

void console_report(void)
{
	if (console.uart.unreported) {
		disk_reads_report(&recording.reads, console.reads, &recording.writer);
		writer_console(&recording.writer, console.sent, console.uart.unreported);
	}
	console.uart.unreported = 0;
	recording_tell_write_error();
}

static void on_out_block(unsigned int vcpu, void *userdata)
{
	(void)vcpu;
	pthread_mutex_lock(&recording.lock);
	console.out_block = machine_now(&recording.machine, userdata_n_insns(userdata));
	pthread_mutex_unlock(&recording.lock);
}

/* Before `out dx, al`; userdata is its place in the block. The clock itself can only be read at the block's start. */
static void on_out(unsigned int vcpu, void *userdata)
{
	uint16_t port = (uint16_t)registers_read(recording.registers.out_port);
	uint8_t value = (uint8_t)registers_read(recording.registers.out_value);
	int64_t place = (int64_t)userdata_n_insns(userdata);

	(void)vcpu;
	pthread_mutex_lock(&recording.lock);
	if (!recording.stopped && uart_write(&console.uart, port, value)) {
		console.sent = console.out_block;
		disk_counts_read(&recording.reads.counts, console.reads);
		if (recording.machine.shift >= 0) {
			console.sent.instructions += place;
			console.sent.t_ns += place << recording.machine.shift;
		}
		if (value == '\n')
			console_report();
		/* Here and now: the profile goes on from here, and a prompt is reported when all is over. */
		if (recording.config.cut_lines && (value == '\n' || uart_may_wait(&console.uart)))
			instrument_cut("console", console.sent);
	}
	pthread_mutex_unlock(&recording.lock);
}

void console_watch(struct qemu_plugin_tb *tb, size_t n_insns)
{
	bool found = false;

	for (size_t i = 0; console.uart.port && i < n_insns; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint8_t opcode;

		if (qemu_plugin_insn_data(insn, &opcode, 1) != 1 || opcode != X86_OUT_DX_AL)
			continue;
		if (!found)
			qemu_plugin_register_vcpu_tb_exec_cb(tb, on_out_block, QEMU_PLUGIN_CB_NO_REGS, userdata_pack(0, n_insns));
		found = true;
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_out, QEMU_PLUGIN_CB_R_REGS, userdata_pack(0, i));
	}
}
