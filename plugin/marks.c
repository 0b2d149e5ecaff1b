/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts a callback where a mark is, and writes the mark to the trace when it is reached. */
#include "marks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console.h"
#include "instrument.h"
#include "network/wire.h"
#include "recording.h"
#include "screen.h"
#include "sleeper.h"

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

static struct {
	bool *recorded; /* one per probe */
	bool *awaited; /* the same: the mark that it comes behind is there */
	bool user_recorded, user_after_recorded;
	bool slide_known;
	uint64_t slide;
	bool pause_due, paused; /* the machine is to stand still, or has */
} marks;

/* The probes that come behind a mark, of whatever kind, count from now on. */
static void await_no_more(const char *name)
{
	for (size_t i = 0; i < recording.config.n_probes; i++)
		if (recording.config.probes[i].after[0] && !strcmp(recording.config.probes[i].after, name))
			marks.awaited[i] = true;
}

/* The probes of a mark that is there count no more. */
static void record_no_more(const char *name)
{
	for (size_t i = 0; i < recording.config.n_probes; i++)
		if (!probe_repeats(&recording.config.probes[i]) && !strcmp(recording.config.probes[i].name, name))
			marks.recorded[i] = true;
	if (!strcmp(recording.config.user_after, name))
		marks.user_after_recorded = true;
}

/* What a machine that goes on from a moment of its boot has behind it. */
static void remember_past(void)
{
	const struct config *config = &recording.config;

	marks.slide_known = config->slide_known;
	marks.slide = config->slide;
	for (size_t i = 0; i < config->n_past; i++) {
		record_no_more(config->past[i].name);
		await_no_more(config->past[i].name);
		if (!strcmp(config->user_name, config->past[i].name))
			marks.user_recorded = true;
	}
}

int marks_open(void)
{
	marks.recorded = calloc(recording.config.n_probes + 1, sizeof *marks.recorded);
	marks.awaited = calloc(recording.config.n_probes + 1, sizeof *marks.awaited);
	if (!marks.recorded || !marks.awaited)
		return -ENOMEM;
	remember_past();
	return charges_init(&recording.config, &recording.charges);
}

const uint64_t *marks_slide(void)
{
	return marks.slide_known ? &marks.slide : NULL;
}

/* What follows from a mark outside of the recording waits until its lock is given back. */
static void unlock(void)
{
	bool pause = marks.pause_due;

	marks.pause_due = false;
	pthread_mutex_unlock(&recording.lock);
	network_tell_mark();
	sleeper_begin();
	if (pause)
		machine_pause(&recording.machine);
}

/* The guest's clock goes on, and with it its ticks; ours stands still. Called as the next one. */
static void skip_if_asked(const char *name)
{
	int64_t ns = (int64_t)recording.config.skip_ns;

	/* A guest can say the name of any mark, later. */
	if (!recording.clock_skips || recording.machine.skipped_ns || strcmp(name, recording.config.skip_at))
		return;
	recording.machine.skipped_ns += ns;
	charged_clock_add(&recording.clock, ns);
}

/* Called with the lock held, after the record of `name` is written. */
static void stop_if_asked(const char *name, struct stamp at)
{
	recording_tell_write_error();
	if (strcmp(name, recording.config.stop))
		return;
	console_report();
	screen_close(true);
	recording_end(at);
	machine_stop(&recording.machine);
}

/* Where QEMU logs what a board's card is asked for, that is told by mark (bootlab/profile/recorded/card_reads.py). */
static void log_mark(const char *name)
{
	char text[TRACE_NAME_MAX + 32];

	snprintf(text, sizeof text, "bootlab-plugin: mark %s\n", name);
	qemu_plugin_outs(text);
}

/* With the lock held, behind the record of the mark. */
static void follow_mark(const char *name, struct stamp at)
{
	log_mark(name);
	await_no_more(name);
	instrument_cut(name, at);
	screen_follow(name, at);
	sleeper_keep_mark(name, at);
	if (!marks.paused && !strcmp(name, recording.config.pause))
		marks.pause_due = marks.paused = true;
	skip_if_asked(name);
	stop_if_asked(name, at);
}

static void record_mark(const char *name, struct stamp at)
{
	record_no_more(name);
	recording_report_counts();
	writer_mark(&recording.writer, name, at);
	network_keep_mark(name, at);
	follow_mark(name, at);
}

/* With the lock held, at the start of the block that is charged for. */
static void charge(size_t probe, struct stamp at)
{
	struct stamp after = at;
	uint64_t ns;

	if (!recording.clock_charged)
		return;
	ns = charges_add(&recording.charges, probe);
	charged_clock_add(&recording.clock, (int64_t)ns);
	recording.machine.charged_ns += (int64_t)ns;
	after.t_ns += (int64_t)ns;
	after.charged_ns += (int64_t)ns;
	instrument_charge(at, after);
}

/* QEMU runs it in the vCPU's thread, between two blocks. */
static void on_time(void *opaque)
{
	const struct timed_mark *mark = opaque;

	pthread_mutex_lock(&recording.lock);
	if (!recording.stopped)
		record_mark(mark->name, machine_now(&recording.machine, 0));
	unlock();
}

static void on_probe(unsigned int vcpu, void *userdata)
{
	size_t index = userdata_probe(userdata);
	const struct probe *probe = &recording.config.probes[index];
	uint64_t caller;

	(void)vcpu;
	pthread_mutex_lock(&recording.lock);
	if (recording.stopped || marks.recorded[index] || (probe->after[0] && !marks.awaited[index]))
		goto out;
	if (probe->from_high) {
		caller = registers_return_address(&recording.registers, recording.config.arch) - marks.slide;
		if (caller < probe->from_low || caller >= probe->from_high)
			goto out;
	}
	if (probe->kind == PROBE_CHARGE) {
		charge(index, machine_now(&recording.machine, userdata_n_insns(userdata)));
	} else if (probe->kind == PROBE_CALLS) {
		writer_call(&recording.writer, probe->name, machine_now(&recording.machine, userdata_n_insns(userdata)),
			    registers_read(recording.registers.argument[0]) - marks.slide);
		recording_tell_write_error();
	} else {
		record_mark(probe->name, machine_now(&recording.machine, userdata_n_insns(userdata)));
	}
out:
	unlock();
}

static void on_low_block(unsigned int vcpu, void *userdata)
{
	(void)vcpu;
	pthread_mutex_lock(&recording.lock);
	if (!recording.stopped && marks.user_after_recorded && !marks.user_recorded &&
	    registers_in_user_mode(&recording.registers, recording.config.arch)) {
		marks.user_recorded = true;
		record_mark(recording.config.user_name, machine_now(&recording.machine, userdata_n_insns(userdata)));
	}
	unlock();
}

static void on_guest_mark(unsigned int vcpu, void *userdata)
{
	char name[TRACE_NAME_MAX + 1] = "";
	uint64_t address = registers_read(recording.registers.argument[0]);
	uint64_t size = registers_read(recording.registers.argument[1]);

	(void)vcpu;
	/* A guest can put anything there; only a proper name may reach the trace. */
	if (size > TRACE_NAME_MAX || !memory_read(address, name, size) || !name_valid(name, size)) {
		fprintf(stderr, "bootlab-plugin: guest mark ignored: its name is not 1 to %d printable characters\n", TRACE_NAME_MAX);
		return;
	}
	pthread_mutex_lock(&recording.lock);
	if (!recording.stopped) {
		struct stamp at = machine_now(&recording.machine, userdata_n_insns(userdata));

		recording_report_counts();
		writer_guest(&recording.writer, name, at);
		network_keep_mark(name, at);
		follow_mark(name, at);
	}
	unlock();
}

void marks_answered(const char *name)
{
	struct stamp at;

	pthread_mutex_lock(&recording.lock);
	if (!recording.stopped) {
		at = machine_now(&recording.machine, 0);
		recording_report_counts();
		writer_answered(&recording.writer, name, at);
		follow_mark(name, at);
	}
	pthread_mutex_unlock(&recording.lock);
}

/* A mark of the screen is of a moment that may be over: what follows from it follows now. */
static void on_screen(const char *name)
{
	struct stamp at = machine_now(&recording.machine, 0);

	recording_report_counts();
	network_keep_mark(name, at);
	follow_mark(name, at);
}

static bool code_is_at(const struct code *code, uint64_t address)
{
	uint8_t bytes[TRACE_CODE_MAX];

	return memory_read(address, bytes, code->size) && code_matches(code, bytes, code->size);
}

static void watch_probes(struct qemu_plugin_tb *tb, uint64_t address, size_t n_insns)
{
	for (size_t i = 0; i < recording.config.n_probes; i++) {
		const struct probe *probe = &recording.config.probes[i];
		enum place place = marks.recorded[i] ? PLACE_NO : probe_place(probe, address, marks_slide());

		if (place == PLACE_NO || (place == PLACE_IF_CODE && !code_is_at(&probe->code, address)))
			continue;
		if (place == PLACE_IF_CODE && (probe->kind == PROBE_MARK || probe_repeats(probe))) {
			marks.slide_known = true;
			marks.slide = address - probe->address;
			writer_slide(&recording.writer, marks.slide);
		}
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_probe,
						     probe->from_high || probe->kind == PROBE_CALLS ? QEMU_PLUGIN_CB_R_REGS :
												      QEMU_PLUGIN_CB_NO_REGS,
						     userdata_pack(i, n_insns));
	}
}

static void tell(const char *feature, int refused, const char *why)
{
	pthread_mutex_lock(&recording.lock);
	if (refused)
		writer_refused(&recording.writer, feature, why);
	else
		writer_exact(&recording.writer, feature);
	pthread_mutex_unlock(&recording.lock);
}

static int set_timers(char *message, size_t message_size)
{
	int r = virtual_timers_open(&recording.machine.skipped_ns, message, message_size, &recording.timers);

	for (size_t i = 0; !r && i < recording.config.n_timed_marks; i++) {
		struct timed_mark *mark = &recording.config.timed_marks[i];

		r = virtual_timers_add(&recording.timers, (int64_t)mark->t_ns, on_time, mark);
		if (r)
			snprintf(message, message_size, "out of memory");
	}
	return r;
}

void marks_start(void)
{
	char message[512] = "needs the virtual clock, -icount shift=0,sleep=off";
	bool is_virtual = recording.machine.shift >= 0;
	bool charges = config_charges(&recording.config), skips = recording.config.skip_at[0];
	int r;

	if (charges || skips) {
		r = is_virtual ? charged_clock_open(message, sizeof message, &recording.clock) : -ENOTSUP;
		recording.clock_charged = !r && charges;
		recording.clock_skips = !r && skips;
		if (charges)
			tell("charges", r, message);
		if (skips)
			tell("skip", r, message);
	}
	if (recording.config.n_timed_marks) {
		r = is_virtual ? set_timers(message, sizeof message) : -ENOTSUP;
		tell("timers", r, message);
	}
	sleeper_open();
	screen_open(on_screen, unlock);
}

const struct probe *marks_find_entry(uint64_t address)
{
	for (size_t i = 0; i < recording.config.n_probes; i++) {
		const struct probe *probe = &recording.config.probes[i];

		if ((probe->kind == PROBE_ENTRY || probe->kind == PROBE_IMAGE || probe->kind == PROBE_MOVED) && !probe->after[0] &&
		    !marks.recorded[i] &&
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

		if (mark->arch == recording.config.arch && mark->size == size && !memcmp(bytes, mark->code, size))
			return true;
	}
	return false;
}

void marks_watch(struct qemu_plugin_tb *tb)
{
	uint64_t address = qemu_plugin_tb_vaddr(tb);
	size_t n_insns = qemu_plugin_tb_n_insns(tb);

	watch_probes(tb, address, n_insns);
	/*
	 * The kernel can run user programs before init (modprobe), and init may then start in a block translated for one of
	 * them. So every block in the user half gets the callback from the moment that the kernel is in its own half; the
	 * firmware's and the decompressor's are not touched.
	 */
	if (recording.config.user_name[0] && !marks.user_recorded && marks.slide_known && !address_is_high(address))
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_low_block, QEMU_PLUGIN_CB_R_REGS, userdata_pack(0, n_insns));
	if (recording.config.guest_marks && !address_is_high(address) && is_guest_mark(tb))
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_guest_mark, QEMU_PLUGIN_CB_R_REGS, userdata_pack(0, n_insns));
}
