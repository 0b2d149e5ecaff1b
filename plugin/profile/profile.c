/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Charges every instruction to the function, task and slice that executed it. */
#include "profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void find_offsets(const struct config *config, uint64_t ret[OFFSETS])
{
	static const struct {
		unsigned offset;
		const char *name;
	} members[] = {
		{ OFFSET_TASK_COMM, "task_struct.comm" },
		{ OFFSET_TASK_PID, "task_struct.pid" },
		{ OFFSET_TASK_TGID, "task_struct.tgid" },
		{ OFFSET_TASK_STATE, "task_struct.state" }, /* before Linux 5.14 */
		{ OFFSET_TASK_STATE, "task_struct.__state" },
		{ OFFSET_TASK_ON_RQ, "task_struct.on_rq" },
		{ OFFSET_TASK_DELAYED, "task_struct.se.sched_delayed" },
		{ OFFSET_BINPRM_FILENAME, "linux_binprm.filename" },
		{ OFFSET_BINPRM_STACK, "linux_binprm.p" },
		{ OFFSET_DEVICE_NAME, "device.kobj.name" },
		{ OFFSET_DEVICE_INIT_NAME, "device.init_name" },
		{ OFFSET_DRIVER_NAME, "device_driver.name" },
		{ OFFSET_MODULE_NAME, "module.name" },
		{ OFFSET_REQUEST_SIZE, "request.__data_len" },
		{ OFFSET_REQUEST_FLAGS, "request.cmd_flags" },
		{ OFFSET_REQUEST_QUEUE, "request.q" },
		{ OFFSET_REQUEST_DISK, "request.rq_disk" }, /* before Linux 5.17 */
		{ OFFSET_QUEUE_DISK, "request_queue.disk" },
		{ OFFSET_DISK_NAME, "gendisk.disk_name" },
	};

	for (unsigned i = 0; i < OFFSETS; i++)
		ret[i] = OFFSET_UNKNOWN;
	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		config_offset(config, members[i].name, &ret[members[i].offset]);
}

static void name_places(struct profile *profile)
{
	uint32_t function;

	profile->function_kernel = names_add(&profile->names, SPACE_OTHER, 0, "[kernel]");
	profile->function_user = names_add(&profile->names, SPACE_OTHER, 0, "[user]");
	profile->console_init = PROFILE_NO_FUNCTION;
	for (size_t i = 0; i < profile->config->n_hooks; i++)
		if (profile->config->hooks[i].kind == HOOK_CONSOLE_INITCALLS &&
		    functions_find(&profile->image.functions, profile->config->hooks[i].address, &function))
			profile->console_init = function;
}

static void deinit(struct profile *profile)
{
	for (size_t i = 0; i < PROFILE_VCPUS_MAX; i++)
		stack_deinit(&profile->vcpus[i].stage.stack);
	task_layout_deinit(&profile->layout);
	address_spaces_deinit(&profile->spaces);
	stages_deinit(&profile->stages);
	modules_deinit(&profile->modules);
	tasks_deinit(&profile->tasks);
	calls_deinit(&profile->calls);
	tree_deinit(&profile->tree);
	trap_counts_deinit(&profile->traps);
	names_deinit(&profile->names);
	functions_deinit(&profile->image.functions);
}

int profile_open(const struct config *config, struct guest guest, unsigned shift, const char *path, char *message,
		 size_t message_size, struct profile *ret)
{
	int r;

	*ret = (struct profile){ .config = config, .guest = guest, .shift = shift };
	r = functions_open(config->functions, message, message_size, &ret->image.functions);
	if (r)
		return r;
	r = profile_writer_open(path, &ret->writer);
	if (r) {
		snprintf(message, message_size, "%s: %s", path, strerror(-r));
		functions_deinit(&ret->image.functions);
		return r;
	}
	names_init(&ret->writer, ret->image.functions.count, &ret->names);
	ret->tasks.writer = ret->calls.writer = &ret->writer;
	ret->tasks.names = &ret->names;
	ret->tasks.tree = &ret->tree;
	modules_init(config, &ret->guest, &ret->names, &ret->modules);
	r = tree_init(&ret->writer, names_add(&ret->names, SPACE_OTHER, 0, "[all]"), &ret->tree);
	if (r)
		snprintf(message, message_size, "%s: out of memory", path);
	else
		r = stages_init(config, &ret->names, message, message_size, &ret->stages);
	if (!r)
		r = address_spaces_init(config, &ret->guest, &ret->names, message, message_size, &ret->spaces);
	if (r) {
		profile_writer_close(&ret->writer);
		deinit(ret);
		return r;
	}
	name_places(ret);
	find_offsets(config, ret->offsets);
	for (uint32_t i = 0; i < PROFILE_VCPUS_MAX; i++) {
		struct vcpu *vcpu = &ret->vcpus[i];

		vcpu->number = i;
		vcpu->stage.number = vcpu->stage.parent = PROFILE_NO_TASK;
		vcpu->task = &vcpu->stage;
	}
	ret->running = &ret->vcpus[0];
	return 0;
}

void profile_charge(struct profile *profile, uint64_t instructions)
{
	struct task *task = profile->running->task;
	uint64_t spent = instructions - profile->instructions;

	profile->tree.nodes[stack_node(&task->stack)].instructions += spent;
	task->instructions += spent;
	profile->instructions = instructions;
}

static void add_charged(struct profile *profile, uint64_t charged_ns)
{
	const struct profile_charged record = {
		.start_ns = profile_now(profile),
		.end_ns = profile_now(profile) + charged_ns - profile->charged_ns,
		.node = profile_node(profile->running),
		.vcpu = (uint16_t)profile->running->number,
	};

	profile->charged_ns = charged_ns;
	profile_writer_add(&profile->writer, PROFILE_CHARGED, &record, sizeof record);
}

void profile_account(struct profile *profile, struct stamp at)
{
	struct profile_idle record = { .node = 0 };
	uint64_t idle_ns;

	profile_charge(profile, (uint64_t)at.instructions);
	if ((uint64_t)at.charged_ns != profile->charged_ns)
		add_charged(profile, (uint64_t)at.charged_ns);
	idle_ns = (uint64_t)at.t_ns - (profile->instructions << profile->shift) - profile->charged_ns;
	if (idle_ns == profile->idle_ns)
		return;
	record.start_ns = profile_now(profile);
	record.end_ns = (uint64_t)at.t_ns;
	record.node = profile_node(profile->running);
	record.vcpu = (uint16_t)profile->running->number;
	profile->idle_ns = idle_ns;
	profile_writer_add(&profile->writer, PROFILE_IDLE, &record, sizeof record);
}

void profile_charge_within(struct profile *profile, uint64_t ns)
{
	add_charged(profile, profile->charged_ns + ns);
}

void profile_trap(struct profile *profile, const struct trap *trap)
{
	trap_counts_add(&profile->traps, profile_node(profile->running), trap);
}

void profile_page(struct profile *profile, uint64_t page, enum profile_page_use use)
{
	const struct profile_page record = {
		.page = page,
		.node = profile_node(profile->running),
		.use = (uint16_t)use,
		.vcpu = (uint16_t)profile->running->number,
	};

	profile_writer_add(&profile->writer, PROFILE_PAGE, &record, sizeof record);
}

void profile_run(struct profile *profile, struct vcpu *vcpu, struct stamp at)
{
	profile_account(profile, at);
	profile->running = vcpu;
}

void profile_open_call(struct profile *profile, struct vcpu *vcpu, enum profile_call_kind kind, uint64_t argument,
		       const char *text)
{
	struct task *task = vcpu->task;
	struct frame *top = stack_top(&task->stack);
	struct open_call call = {
		.start_ns = profile_now(profile),
		.start_instructions = profile->instructions,
		.task_instructions = task->instructions,
		.argument = argument,
		.node = stack_node(&task->stack),
		.task = task->number,
		.kind = kind,
	};

	if (!top || top->call)
		return;
	snprintf(call.text, sizeof call.text, "%s", text);
	top->call = calls_open(&profile->calls, &call);
}

/* asm_common_interrupt, asm_sysvec_*, el1h_64_irq, do_irq, ...; not asm_exc_*, entry_SYSCALL_64, el0t_64_sync. */
static bool is_interrupt(const char *entry)
{
	return strstr(entry, "interrupt") || strstr(entry, "sysvec") || strstr(entry, "_irq") || strstr(entry, "_fiq");
}

bool profile_in_interrupt(const struct profile *profile, const struct vcpu *vcpu)
{
	const struct stack *stack = &vcpu->task->stack;

	for (uint32_t i = stack->depth; i-- > 0;)
		if (stack->frames[i].flags & FRAME_EXCEPTION) {
			/* riscv64 has one entry for all: what that calls tells. */
			bool is_next = profile->config->arch == ARCH_RISCV64 && i + 1 < stack->depth;
			uint32_t function = stack->frames[is_next ? i + 1 : i].function;

			return function < profile->image.functions.count &&
			       is_interrupt(profile->image.functions.names[function]);
		}
	return false;
}

void profile_cut(struct profile *profile, const char *name, struct stamp at)
{
	struct profile_cut record = { .text_size = strlen(name) };

	profile_account(profile, at);
	record.t_ns = profile_now(profile);
	record.instructions = profile->instructions;
	tree_cut(&profile->tree);
	trap_counts_cut(&profile->traps, &profile->writer);
	calls_cut(&profile->calls);
	profile_writer_add_text(&profile->writer, PROFILE_COUNTS, &profile->counts, sizeof profile->counts, "", 0);
	profile_writer_flush(&profile->writer);
	profile_writer_add_text(&profile->writer, PROFILE_CUT, &record, sizeof record, name, record.text_size);
	profile_writer_flush(&profile->writer);
}

void profile_end_span(struct profile *profile, const struct task *task, const struct frame *frame)
{
	const struct profile_span record = {
		.start_ns = frame->start_ns, .end_ns = profile_now(profile), .node = frame->node, .task = task->number
	};

	if (record.end_ns - record.start_ns >= profile->config->span_ns)
		profile_writer_add(&profile->writer, PROFILE_SPAN, &record, sizeof record);
}

void profile_drop_frames(struct profile *profile, struct task *task, uint32_t depth)
{
	struct stack *stack = &task->stack;

	while (stack->depth > depth) {
		struct frame *frame = &stack->frames[--stack->depth];

		profile_end_span(profile, task, frame);
		if (frame->call) {
			const struct call_end end = { profile_now(profile), profile->instructions, task->instructions };

			calls_close(&profile->calls, frame->call, &end, 0);
		}
	}
}

/* Frames that are still there have spans and calls, too. */
static void close_task(struct profile *profile, struct task *task)
{
	const struct call_end end = { profile_now(profile), profile->instructions, task->instructions };

	for (uint32_t i = 0; i < task->stack.depth; i++) {
		struct frame *frame = &task->stack.frames[i];

		if (frame->call)
			calls_close(&profile->calls, frame->call, &end, CALL_UNFINISHED);
		frame->call = 0;
	}
	profile_drop_frames(profile, task, 0);
}

int profile_close(struct profile *profile, struct stamp at)
{
	struct profile_end record;
	int r;

	profile_account(profile, at);
	for (struct task *task = profile->tasks.all; task; task = task->next_of_all)
		close_task(profile, task);
	for (size_t i = 0; i < PROFILE_VCPUS_MAX; i++)
		close_task(profile, &profile->vcpus[i].stage);
	profile_cut(profile, "end", at);
	record = (struct profile_end){
		.t_ns = profile_now(profile), .instructions = profile->instructions, .idle_ns = profile->idle_ns
	};
	profile_writer_add_text(&profile->writer, PROFILE_END, &record, sizeof record, "", 0);
	r = profile_writer_close(&profile->writer);
	deinit(profile);
	return r;
}
