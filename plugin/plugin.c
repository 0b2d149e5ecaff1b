/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU TCG plugin: records when a boot reaches its marks, without the guest noticing.
 *
 * Only translation blocks that hold a mark get a callback, so everything else runs at QEMU's own speed. Callbacks are
 * plain ones, never QEMU's inline or conditional operations: with several vCPUs under -icount QEMU 10.0's corrupt the
 * guest (its gen_cpu_index() hands out a shared constant that gen_plugin_u64_ptr() then multiplies in place).
 *
 * Reading the virtual clock is legal only at the start of a block (elsewhere QEMU exits with "Bad icount read"), so a
 * mark must be where a block starts. A function's first instruction is: it is reached by a call.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_read.h"
#include "instrument.h"
#include "machine.h"
#include "qemu_plugin_api.h"
#include "uart.h"
#include "writer.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

/* What an executed guest mark is: a NOP that no compiler emits (guest/README.md). */
static const uint8_t guest_mark_x86_64[] = { 0x0f, 0x1f, 0x84, 0x00, 0xb0, 0x07, 0x1a, 0xb5 };
static const uint8_t guest_mark_aarch64[] = { 0xff, 0x60, 0xa1, 0xd2 };
static const uint8_t guest_mark_arm[] = { 0x00, 0xb7, 0xcb, 0xe3 };
static const uint8_t guest_mark_thumb[] = { 0x4b, 0xea, 0x0b, 0x0b };
static const uint8_t guest_mark_riscv64[] = { 0x13, 0x20, 0x70, 0xb0 };

static const struct guest_mark {
	enum arch arch;
	const uint8_t *code;
	size_t size;
} guest_marks[] = {
	{ ARCH_X86_64, guest_mark_x86_64, sizeof guest_mark_x86_64 },
	{ ARCH_AARCH64, guest_mark_aarch64, sizeof guest_mark_aarch64 },
	{ ARCH_ARMV7, guest_mark_arm, sizeof guest_mark_arm },
	{ ARCH_ARMV7, guest_mark_thumb, sizeof guest_mark_thumb },
	{ ARCH_RISCV64, guest_mark_riscv64, sizeof guest_mark_riscv64 },
};

/* What QEMU calls the registers of struct registers, as its gdb stub does; NULL: there is none. */
static const struct register_names {
	const char *target; /* what QEMU calls the architecture */
	const char *argument[2], *privilege, *out_port, *out_value, *caller;
} register_names[] = {
	[ARCH_X86_64] = { "x86_64", { "rdi", "rsi" }, "cs", "rdx", "rax", "rsp" },
	[ARCH_AARCH64] = { "aarch64", { "x0", "x1" }, "cpsr", NULL, NULL, "x30" },
	[ARCH_ARMV7] = { "arm", { "r0", "r1" }, "cpsr", NULL, NULL, "lr" },
	[ARCH_RISCV64] = { "riscv64", { "a0", "a1" }, "priv", NULL, NULL, "ra" },
};

enum { X86_OUT_DX_AL = 0xee };

struct registers {
	struct qemu_plugin_register *argument[2];
	struct qemu_plugin_register *privilege; /* cs, cpsr, priv */
	struct qemu_plugin_register *out_port, *out_value; /* rdx, rax; x86 only */
	struct qemu_plugin_register *caller; /* rsp (the return address is on top of the stack), x30, lr and ra (it is the address) */
};

/* One plugin, one machine: QEMU gives its translation callback no pointer of ours. `lock` is for -accel tcg,thread=multi. */
static struct {
	pthread_mutex_t lock;
	struct config config;
	struct machine machine;
	struct registers registers;
	struct writer writer;
	struct uart uart;
	struct stamp out_block, sent; /* entry of the block with the latest `out`; when the latest byte was sent */
	bool *recorded; /* one per probe */
	bool user_recorded, user_after_recorded;
	bool started, stopped, write_error_told;
	bool slide_known;
	uint64_t slide;
	bool profile; /* a full profile as well */
} self = { .lock = PTHREAD_MUTEX_INITIALIZER };

/*
 * A callback's userdata is a block's length and a probe's index in one pointer: nothing to allocate, and nothing to free
 * when QEMU throws its translations away. A block has at most 512 instructions (TCG_MAX_INSNS).
 */
static void *pack(size_t probe, size_t n_insns)
{
	return (void *)(uintptr_t)(probe << 16 | n_insns);
}

static size_t unpack_probe(const void *userdata)
{
	return (uintptr_t)userdata >> 16;
}

static size_t unpack_n_insns(const void *userdata)
{
	return (uintptr_t)userdata & 0xffff;
}

static uint64_t read_register(struct qemu_plugin_register *handle)
{
	GByteArray *bytes = g_byte_array_new();
	uint64_t value = 0;

	/* Little-endian, as all guests are, on a little-endian host. */
	if (qemu_plugin_read_register(handle, bytes) > 0)
		memcpy(&value, bytes->data, bytes->len < sizeof value ? bytes->len : sizeof value);
	g_byte_array_free(bytes, 1);
	return value;
}

static bool read_memory(uint64_t address, void *ret, size_t size)
{
	GByteArray *bytes = g_byte_array_new();
	bool done = qemu_plugin_read_memory_vaddr(address, bytes, size) && bytes->len == size;

	if (done)
		memcpy(ret, bytes->data, size);
	g_byte_array_free(bytes, 1);
	return done;
}

static bool in_user_mode(void)
{
	uint64_t privilege = read_register(self.registers.privilege);

	/* x86: cs.RPL is 3. arm64: PSTATE.EL is 0. arm: the mode is usr. riscv64: the level, 0 is U. */
	switch (self.config.arch) {
	case ARCH_X86_64:
		return (privilege & 3) == 3;
	case ARCH_ARMV7:
		return (privilege & 0x1f) == 0x10;
	case ARCH_RISCV64:
		return (privilege & 3) == 0;
	default:
		return (privilege & 0xc) == 0;
	}
}

static uint64_t return_address(void)
{
	uint64_t value = read_register(self.registers.caller);

	if (self.config.arch == ARCH_X86_64 && !read_memory(value, &value, sizeof value))
		return 0;
	/* On arm its lowest bit says that the caller is Thumb code. */
	return self.config.arch == ARCH_ARMV7 ? value & ~UINT64_C(1) : value;
}

static void tell_write_error(void)
{
	if (self.writer.error && !self.write_error_told) {
		fprintf(stderr, "bootlab-plugin: trace: %s\n", strerror(-self.writer.error));
		self.write_error_told = true;
	}
}

static void end_profile(struct stamp at)
{
	int r = instrument_close(at);

	if (r)
		fprintf(stderr, "bootlab-plugin: profile: %s\n", strerror(-r));
}

static void report_console(void)
{
	if (self.uart.unreported) {
		writer_console(&self.writer, self.sent, self.uart.unreported);
		if (self.config.cut_lines)
			instrument_cut("console", self.sent);
	}
	self.uart.unreported = 0;
	tell_write_error();
}

/* Called with the lock held, after the record of `name` is written. */
static void stop_if_asked(const char *name, struct stamp at)
{
	tell_write_error();
	if (strcmp(name, self.config.stop))
		return;
	self.stopped = true;
	report_console();
	writer_end(&self.writer, at);
	end_profile(at);
	machine_stop(&self.machine);
}

/* Where QEMU logs what a board's card is asked for, that is told by mark (bootlab/profile/recorded/card_reads.py). */
static void log_mark(const char *name)
{
	char text[TRACE_NAME_MAX + 32];

	snprintf(text, sizeof text, "bootlab-plugin: mark %s\n", name);
	qemu_plugin_outs(text);
}

static void record_mark(const char *name, struct stamp at)
{
	for (size_t i = 0; i < self.config.n_probes; i++)
		if (self.config.probes[i].kind != PROBE_CALLS && !strcmp(self.config.probes[i].name, name))
			self.recorded[i] = true;
	if (!strcmp(self.config.user_after, name))
		self.user_after_recorded = true;
	writer_mark(&self.writer, name, at);
	log_mark(name);
	instrument_cut(name, at);
	stop_if_asked(name, at);
}

static void on_probe(unsigned int vcpu, void *userdata)
{
	size_t index = unpack_probe(userdata);
	const struct probe *probe = &self.config.probes[index];
	uint64_t caller;

	(void)vcpu;
	pthread_mutex_lock(&self.lock);
	if (self.stopped || self.recorded[index])
		goto out;
	if (probe->from_high) {
		caller = return_address() - self.slide;
		if (caller < probe->from_low || caller >= probe->from_high)
			goto out;
	}
	if (probe->kind == PROBE_CALLS) {
		writer_call(&self.writer, probe->name, machine_now(&self.machine, unpack_n_insns(userdata)),
			    read_register(self.registers.argument[0]) - self.slide);
		tell_write_error();
	} else {
		record_mark(probe->name, machine_now(&self.machine, unpack_n_insns(userdata)));
	}
out:
	pthread_mutex_unlock(&self.lock);
}

static void on_low_block(unsigned int vcpu, void *userdata)
{
	(void)vcpu;
	pthread_mutex_lock(&self.lock);
	if (!self.stopped && self.user_after_recorded && !self.user_recorded && in_user_mode()) {
		self.user_recorded = true;
		record_mark(self.config.user_name, machine_now(&self.machine, unpack_n_insns(userdata)));
	}
	pthread_mutex_unlock(&self.lock);
}

static void on_guest_mark(unsigned int vcpu, void *userdata)
{
	char name[TRACE_NAME_MAX + 1] = "";
	uint64_t address = read_register(self.registers.argument[0]);
	uint64_t size = read_register(self.registers.argument[1]);

	(void)vcpu;
	/* A guest can put anything there; only a proper name may reach the trace. */
	if (size > TRACE_NAME_MAX || !read_memory(address, name, size) || !name_valid(name, size)) {
		fprintf(stderr, "bootlab-plugin: guest mark ignored: its name is not 1 to %d printable characters\n", TRACE_NAME_MAX);
		return;
	}
	pthread_mutex_lock(&self.lock);
	if (!self.stopped) {
		struct stamp at = machine_now(&self.machine, unpack_n_insns(userdata));

		writer_guest(&self.writer, name, at);
		log_mark(name);
		instrument_cut(name, at);
		stop_if_asked(name, at);
	}
	pthread_mutex_unlock(&self.lock);
}

static void on_out_block(unsigned int vcpu, void *userdata)
{
	(void)vcpu;
	pthread_mutex_lock(&self.lock);
	self.out_block = machine_now(&self.machine, unpack_n_insns(userdata));
	pthread_mutex_unlock(&self.lock);
}

/* Before `out dx, al`; userdata is its place in the block. The clock itself can only be read at the block's start. */
static void on_out(unsigned int vcpu, void *userdata)
{
	uint16_t port = (uint16_t)read_register(self.registers.out_port);
	uint8_t value = (uint8_t)read_register(self.registers.out_value);
	int64_t place = (int64_t)unpack_n_insns(userdata);

	(void)vcpu;
	pthread_mutex_lock(&self.lock);
	if (!self.stopped && uart_write(&self.uart, port, value)) {
		self.sent = self.out_block;
		if (self.machine.shift >= 0) {
			self.sent.instructions += place;
			self.sent.t_ns += place << self.machine.shift;
		}
		if (value == '\n')
			report_console();
	}
	pthread_mutex_unlock(&self.lock);
}

static void watch_uart(struct qemu_plugin_tb *tb, size_t n_insns)
{
	bool found = false;

	for (size_t i = 0; i < n_insns; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint8_t opcode;

		if (qemu_plugin_insn_data(insn, &opcode, 1) != 1 || opcode != X86_OUT_DX_AL)
			continue;
		if (!found)
			qemu_plugin_register_vcpu_tb_exec_cb(tb, on_out_block, QEMU_PLUGIN_CB_NO_REGS, pack(0, n_insns));
		found = true;
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_out, QEMU_PLUGIN_CB_R_REGS, pack(0, i));
	}
}

static bool code_is_at(const struct code *code, uint64_t address)
{
	uint8_t bytes[TRACE_CODE_MAX];

	return read_memory(address, bytes, code->size) && code_matches(code, bytes, code->size);
}

static void watch_probes(struct qemu_plugin_tb *tb, uint64_t address, size_t n_insns)
{
	for (size_t i = 0; i < self.config.n_probes; i++) {
		const struct probe *probe = &self.config.probes[i];
		enum place place = self.recorded[i] ? PLACE_NO : probe_place(probe, address, self.slide_known ? &self.slide : NULL);

		if (place == PLACE_NO || (place == PLACE_IF_CODE && !code_is_at(&probe->code, address)))
			continue;
		if (place == PLACE_IF_CODE && (probe->kind == PROBE_MARK || probe->kind == PROBE_CALLS)) {
			self.slide_known = true;
			self.slide = address - probe->address;
			writer_slide(&self.writer, self.slide);
		}
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_probe,
						     probe->from_high || probe->kind == PROBE_CALLS ? QEMU_PLUGIN_CB_R_REGS :
												      QEMU_PLUGIN_CB_NO_REGS,
						     pack(i, n_insns));
	}
}

/* The probe that finds the kernel's or an image's entry here; NULL: none does. */
static const struct probe *find_entry(uint64_t address)
{
	for (size_t i = 0; i < self.config.n_probes; i++) {
		const struct probe *probe = &self.config.probes[i];

		if ((probe->kind == PROBE_ENTRY || probe->kind == PROBE_IMAGE) && !self.recorded[i] &&
		    probe_place(probe, address, NULL) == PLACE_IF_CODE && code_is_at(&probe->code, address))
			return probe;
	}
	return NULL;
}

static bool is_guest_mark(struct qemu_plugin_tb *tb)
{
	uint8_t bytes[sizeof guest_mark_x86_64];
	size_t size = qemu_plugin_insn_data(qemu_plugin_tb_get_insn(tb, 0), bytes, sizeof bytes);

	for (size_t i = 0; i < sizeof guest_marks / sizeof *guest_marks; i++) {
		const struct guest_mark *mark = &guest_marks[i];

		if (mark->arch == self.config.arch && mark->size == size && !memcmp(bytes, mark->code, size))
			return true;
	}
	return false;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint64_t address = qemu_plugin_tb_vaddr(tb);
	size_t n_insns = qemu_plugin_tb_n_insns(tb);

	(void)id;
	pthread_mutex_lock(&self.lock);
	if (!self.started) {
		self.started = true;
		machine_start(&self.machine);
	}
	if (!self.stopped) {
		if (self.profile)
			instrument_block(tb, find_entry(address), self.slide_known ? &self.slide : NULL);
		watch_probes(tb, address, n_insns);
		if (self.uart.port)
			watch_uart(tb, n_insns);
		/*
		 * The kernel can run user programs before init (modprobe), and init may then start in a block translated for one of
		 * them. So every block in the user half gets the callback from the moment that the kernel is in its own half; the
		 * firmware's and the decompressor's are not touched.
		 */
		if (self.config.user_name[0] && !self.user_recorded && self.slide_known && !address_is_high(address))
			qemu_plugin_register_vcpu_tb_exec_cb(tb, on_low_block, QEMU_PLUGIN_CB_R_REGS, pack(0, n_insns));
		if (self.config.guest_marks && !address_is_high(address) && is_guest_mark(tb))
			qemu_plugin_register_vcpu_tb_exec_cb(tb, on_guest_mark, QEMU_PLUGIN_CB_R_REGS, pack(0, n_insns));
	}
	pthread_mutex_unlock(&self.lock);
}

static struct qemu_plugin_register *find_register(const GArray *all, const char *name)
{
	const qemu_plugin_reg_descriptor *descriptors = (const void *)all->data;

	if (!name)
		return NULL;
	for (unsigned i = 0; i < all->len; i++)
		if (!strcmp(descriptors[i].name, name))
			return descriptors[i].handle;
	/* Too late to refuse politely: registers can only be asked for once there is a vCPU. */
	fprintf(stderr, "bootlab-plugin: this QEMU's vCPU has no register %s\n", name);
	exit(EXIT_FAILURE);
}

static void on_vcpu_init(qemu_plugin_id_t id, unsigned int vcpu)
{
	const struct register_names *names = &register_names[self.config.arch];
	GArray *all;

	(void)id;
	if (vcpu != 0)
		return; /* all vCPUs are of one model: the handles are the same */
	all = qemu_plugin_get_registers();
	self.registers = (struct registers){
		.argument = { find_register(all, names->argument[0]), find_register(all, names->argument[1]) },
		.privilege = find_register(all, names->privilege),
		.out_port = find_register(all, names->out_port),
		.out_value = find_register(all, names->out_value),
		.caller = find_register(all, names->caller),
	};
	g_array_free(all, 1);
	if (self.profile)
		instrument_vcpu(vcpu);
}

static void on_exit(qemu_plugin_id_t id, void *userdata)
{
	int r;

	(void)id;
	(void)userdata;
	pthread_mutex_lock(&self.lock);
	if (!self.stopped) {
		struct stamp at = machine_now(&self.machine, 0);

		report_console();
		writer_end(&self.writer, at);
		end_profile(at);
	}
	self.stopped = true;
	tell_write_error();
	r = writer_close(&self.writer);
	if (r && !self.write_error_told)
		fprintf(stderr, "bootlab-plugin: trace: %s\n", strerror(-r));
	pthread_mutex_unlock(&self.lock);
}

static int load_config(const char *path, const char *target)
{
	char message[512];
	FILE *file = fopen(path, "re");
	int r;

	if (!file) {
		fprintf(stderr, "bootlab-plugin: %s: %s\n", path, strerror(errno));
		return -1;
	}
	r = config_read(file, path, message, sizeof message, &self.config);
	fclose(file);
	if (r) {
		fprintf(stderr, "bootlab-plugin: %s\n", message);
		return -1;
	}
	if (strcmp(target, register_names[self.config.arch].target)) {
		fprintf(stderr, "bootlab-plugin: %s: made for %s, but this QEMU emulates %s\n", path, arch_name(self.config.arch),
			target);
		return -1;
	}
	self.uart.port = self.config.uart_port;
	self.recorded = calloc(self.config.n_probes + 1, sizeof *self.recorded);
	return self.recorded ? 0 : -1;
}

static int open_machine(void)
{
	char message[512];

	if (machine_open(message, sizeof message, &self.machine)) {
		fprintf(stderr, "bootlab-plugin: %s\n", message);
		return -1;
	}
	if (self.config.stop[0] && !self.machine.shutdown_request) {
		fprintf(stderr, "bootlab-plugin: stop %s: this QEMU does not export qemu_system_shutdown_request\n", self.config.stop);
		return -1;
	}
	return 0;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	const char *config = NULL, *out = NULL, *profile = NULL;
	char message[512];
	int r;

	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "config=", 7)) {
			config = argv[i] + 7;
		} else if (!strncmp(argv[i], "out=", 4)) {
			out = argv[i] + 4;
		} else if (!strncmp(argv[i], "profile=", 8)) {
			profile = argv[i] + 8;
		} else {
			fprintf(stderr, "bootlab-plugin: unknown option '%s'; there are config=FILE, out=FILE and profile=FILE\n",
				argv[i]);
			return -1;
		}
	}
	if (!config || !out) {
		fprintf(stderr, "bootlab-plugin: option %s=FILE is missing\n", config ? "out" : "config");
		return -1;
	}
	if (!info->system_emulation) {
		fprintf(stderr, "bootlab-plugin: works with qemu-system-*, not with user-mode QEMU\n");
		return -1;
	}
	if (load_config(config, info->target_name) || open_machine())
		return -1;
	self.profile = profile;
	if (profile && instrument_open(&self.config, &self.machine, info, profile, message, sizeof message)) {
		fprintf(stderr, "bootlab-plugin: %s\n", message);
		return -1;
	}
	r = writer_open(out, self.machine.shift, &self.writer);
	if (r) {
		fprintf(stderr, "bootlab-plugin: %s: %s\n", out, strerror(-r));
		return -1;
	}
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, on_exit, NULL);
	return 0;
}
