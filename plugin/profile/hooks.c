/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the arguments of hooked kernel functions and notes what they tell: switches, wakes, forks, requests. */
#include "hooks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "flow.h"

enum { TEXT_SIZE = CALL_TEXT_SIZE, KERNEL_NAME_MAX = 64, PATH_TEXT_SIZE = 1024 };

static const uint32_t TASK_DEAD = 0x80; /* include/linux/sched.h */

/* What a reading of the guest's structs comes to: false if the kernel's offsets are unknown or nothing is mapped there. */
static bool read_member(const struct profile *profile, uint64_t address, size_t offset, void *ret, size_t size)
{
	return address && profile->offsets[offset] != OFFSET_UNKNOWN &&
	       profile->guest.read(address + profile->offsets[offset], ret, size);
}

static uint64_t read_pointer(const struct profile *profile, uint64_t address, size_t offset)
{
	uint64_t value = 0;

	return read_member(profile, address, offset, &value, guest_pointer_size(&profile->guest)) ? value : 0;
}

static void write_event(struct profile *profile, const struct vcpu *vcpu, enum profile_event_kind kind, uint64_t a, uint64_t b,
			const char *text)
{
	const struct profile_event record = {
		.t_ns = profile_now(profile),
		.instructions = profile->instructions,
		.a = a,
		.b = b,
		.task = vcpu->task->number,
		.node = profile_node(vcpu),
		.kind = (uint16_t)kind,
		.vcpu = (uint16_t)vcpu->number,
		.text_size = (uint32_t)strlen(text),
	};

	profile_writer_add_text(&profile->writer, PROFILE_EVENT, &record, sizeof record, text, record.text_size);
}

static void read_names(struct profile *profile, struct task *task)
{
	char comm[COMM_SIZE + 1] = "";
	int32_t pid = -1, tgid = -1;

	if (!read_member(profile, task->address, OFFSET_TASK_COMM, comm, COMM_SIZE)) {
		if (task->named)
			return;
		memcpy(comm, "task", sizeof "task");
	}
	if (task->named && !strcmp(comm, task->comm))
		return;
	read_member(profile, task->address, OFFSET_TASK_PID, &pid, sizeof pid);
	read_member(profile, task->address, OFFSET_TASK_TGID, &tgid, sizeof tgid);
	tasks_name(&profile->tasks, task, profile_now(profile), comm, pid, tgid);
}

/* The task of a task_struct; NULL when memory runs out. */
static struct task *find_task(struct profile *profile, uint64_t address)
{
	struct task *task = tasks_find(&profile->tasks, address);
	int32_t pid;

	/* Without a fork hook, a task_struct that is used again shows by its pid. */
	if (task && task->named && read_member(profile, address, OFFSET_TASK_PID, &pid, sizeof pid) && pid != task->pid)
		task = NULL;
	if (!task)
		task = tasks_add(&profile->tasks, address, PROFILE_NO_TASK);
	if (task)
		read_names(profile, task);
	return task;
}

static uint32_t read_state(const struct profile *profile, uint64_t task, bool *known)
{
	uint32_t state = 0;

	*known = read_member(profile, task, OFFSET_TASK_STATE, &state, sizeof state);
	return state;
}

static uint16_t switch_flags(const struct profile *profile, uint64_t previous)
{
	bool known;
	uint32_t state = read_state(profile, previous, &known);
	int32_t queued = 0;
	uint8_t delayed = 0;

	if (!known)
		return SWITCH_STATE_UNKNOWN;
	if (state & TASK_DEAD)
		return SWITCH_SLEEPS | SWITCH_DEAD;
	if (state == 0)
		return 0;
	/* Preempted on its way to sleep it is still on its run queue; since Linux 6.12 a sleeping one may be, too. */
	if (read_member(profile, previous, OFFSET_TASK_ON_RQ, &queued, sizeof queued) && queued &&
	    !(read_member(profile, previous, OFFSET_TASK_DELAYED, &delayed, sizeof delayed) && delayed))
		return 0;
	return SWITCH_SLEEPS;
}

static void on_switch(struct profile *profile, struct vcpu *vcpu, uint64_t previous, uint64_t next)
{
	struct profile_switch record = { .t_ns = profile_now(profile), .instructions = profile->instructions };
	struct task *task = vcpu->task;

	if (task->number != PROFILE_NO_TASK && !task->address) {
		tasks_place(&profile->tasks, task, previous); /* the vCPU's first thread */
		read_names(profile, task);
	} else if (task->address != previous) {
		task = find_task(profile, previous);
	}
	if (!task)
		return;
	record.previous = task->number;
	record.previous_node = profile_node(vcpu);
	record.vcpu = (uint16_t)vcpu->number;
	record.flags = switch_flags(profile, previous);
	if (record.flags & SWITCH_DEAD) {
		profile_drop_frames(profile, task, 0);
		stack_deinit(&task->stack);
	}
	task = find_task(profile, next);
	if (!task)
		return;
	record.next = task->number;
	vcpu->task = task;
	profile->counts.switches++;
	profile_writer_add(&profile->writer, PROFILE_SWITCH, &record, sizeof record);
}

static void on_wake(struct profile *profile, struct vcpu *vcpu, uint64_t address, uint64_t states)
{
	struct profile_wake record = { .t_ns = profile_now(profile), .node = profile_node(vcpu) };
	struct task *task;
	bool known;
	uint32_t state = read_state(profile, address, &known);

	/* It does nothing then. */
	if (known && !(state & (uint32_t)states))
		return;
	task = find_task(profile, address);
	if (!task)
		return;
	record.wakee = task->number;
	record.waker = vcpu->task->number;
	record.vcpu = (uint16_t)vcpu->number;
	record.flags = profile_in_interrupt(profile, vcpu) ? WAKE_IN_INTERRUPT : 0;
	profile_writer_add(&profile->writer, PROFILE_WAKE, &record, sizeof record);
}

static void learn_layout(struct profile *profile, uint64_t task)
{
	struct task_members members;

	if (profile->offsets[OFFSET_TASK_COMM] != OFFSET_UNKNOWN ||
	    !task_layout_learn(&profile->layout, &profile->guest, task, &members))
		return;
	profile->offsets[OFFSET_TASK_COMM] = members.comm;
	profile->offsets[OFFSET_TASK_PID] = members.pid;
	profile->offsets[OFFSET_TASK_TGID] = members.tgid;
	profile->offsets[OFFSET_TASK_STATE] = members.state;
	for (struct task *known = profile->tasks.all; known; known = known->next_of_all)
		if (known->pid < 0)
			known->named = false; /* what it was called was a makeshift */
}

static void on_fork(struct profile *profile, struct vcpu *vcpu, uint64_t address)
{
	struct task *parent = vcpu->task, *child = tasks_add(&profile->tasks, address, parent->number);

	if (!child)
		return;
	learn_layout(profile, address);
	read_names(profile, child);
	address_spaces_fork(&profile->spaces, parent->address, address);
	if (child->tgid == child->pid) /* not a thread, whose stack is its own */
		flow_copy_user_frames(profile, parent, child);
	write_event(profile, vcpu, EVENT_FORK, child->number, 0, "");
}

static void on_comm(struct profile *profile, struct vcpu *vcpu, uint64_t address, uint64_t name)
{
	struct task *task = tasks_find(&profile->tasks, address);
	char comm[COMM_SIZE + 1];

	if (!task && !vcpu->task->address)
		task = vcpu->task;
	if (!task)
		return;
	guest_read_string(&profile->guest, name, comm, sizeof comm);
	comm[COMM_SIZE - 1] = '\0'; /* as the kernel cuts it */
	if (strcmp(comm, task->comm))
		tasks_name(&profile->tasks, task, profile_now(profile), comm, task->pid, task->tgid);
}

static void on_exec(struct profile *profile, struct vcpu *vcpu, uint64_t program)
{
	char path[TEXT_SIZE];

	if (profile->offsets[OFFSET_BINPRM_FILENAME] == OFFSET_UNKNOWN)
		profile->offsets[OFFSET_BINPRM_FILENAME] = task_layout_find_path(&profile->guest, program);
	guest_read_string(&profile->guest, read_pointer(profile, program, OFFSET_BINPRM_FILENAME), path, sizeof path);
	vcpu->task->replaced = true;
	address_spaces_exec(&profile->spaces, vcpu->task->address, program);
	write_event(profile, vcpu, EVENT_EXEC, 0, 0, path);
}

/* finalize_exec(): the new program's stack is ready, argc and argv lie on top of it. */
static void on_command(struct profile *profile, struct vcpu *vcpu, uint64_t program)
{
	enum { MOST_WORDS = 64 };
	const uint64_t step = guest_pointer_size(&profile->guest);
	const uint64_t stack = read_pointer(profile, program, OFFSET_BINPRM_STACK);
	char text[PATH_TEXT_SIZE] = "";
	uint64_t count, word;
	size_t size = 0;

	if (!guest_read_pointer(&profile->guest, stack, &count))
		return;
	if (count > MOST_WORDS)
		count = MOST_WORDS;
	for (uint64_t i = 1; i <= count && size < sizeof text - 1; i++) {
		if (!guest_read_pointer(&profile->guest, stack + i * step, &word))
			break;
		if (i > 1)
			text[size++] = '\t';
		guest_read_string(&profile->guest, word, text + size, sizeof text - size);
		size += strlen(text + size);
	}
	write_event(profile, vcpu, EVENT_COMMAND, 0, 0, text);
}

/* What open, exec, stat and their like take: its first member has always been the name. */
static void on_path(struct profile *profile, struct vcpu *vcpu, enum profile_event_kind kind, uint64_t filename)
{
	char path[PATH_TEXT_SIZE];
	uint64_t name;

	if (!guest_read_pointer(&profile->guest, filename, &name))
		return;
	guest_read_string(&profile->guest, name, path, sizeof path);
	write_event(profile, vcpu, kind, 0, 0, path);
}

static void read_device_name(const struct profile *profile, uint64_t device, char *ret, size_t size)
{
	uint64_t name = read_pointer(profile, device, OFFSET_DEVICE_INIT_NAME);

	guest_read_string(&profile->guest, name ? name : read_pointer(profile, device, OFFSET_DEVICE_NAME), ret, size);
}

static void on_probe(struct profile *profile, struct vcpu *vcpu, uint64_t device, uint64_t driver)
{
	char text[2 * KERNEL_NAME_MAX + 2];
	size_t size;

	read_device_name(profile, device, text, KERNEL_NAME_MAX);
	size = strlen(text);
	text[size++] = '\t';
	guest_read_string(&profile->guest, read_pointer(profile, driver, OFFSET_DRIVER_NAME), text + size, KERNEL_NAME_MAX);
	profile_open_call(profile, vcpu, CALL_PROBE, 0, text);
}

static void on_defer(struct profile *profile, struct vcpu *vcpu, uint64_t device)
{
	char text[KERNEL_NAME_MAX];

	read_device_name(profile, device, text, sizeof text);
	write_event(profile, vcpu, EVENT_DEFER, 0, 0, text);
}

static void on_module(struct profile *profile, struct vcpu *vcpu, uint64_t module)
{
	struct module_code code;
	char name[KERNEL_NAME_MAX] = "";

	if (profile->offsets[OFFSET_MODULE_NAME] != OFFSET_UNKNOWN)
		guest_read_string(&profile->guest, module + profile->offsets[OFFSET_MODULE_NAME], name, sizeof name);
	if (modules_load(&profile->modules, module, &code))
		write_event(profile, vcpu, EVENT_MODULE, code.address, code.size, name);
	profile_open_call(profile, vcpu, CALL_MODULE, 0, name);
}

static void on_map(struct profile *profile, struct vcpu *vcpu, const struct mapping *mapping)
{
	enum { PAGE_SHIFT = 12 };
	struct task *task = vcpu->task;
	char text[TEXT_SIZE + 24];
	int size = snprintf(text, sizeof text, "%" PRIu64 " ", mapping->page_offset << PAGE_SHIFT);

	/* exec names the task, and may have __set_task_comm() within itself; then it maps the program. */
	if (task->replaced && task->address)
		read_names(profile, task);
	if (address_spaces_map(&profile->spaces, mapping, text + size, sizeof text - (size_t)size))
		write_event(profile, vcpu, EVENT_MAP, mapping->address, mapping->length, text);
}

static void on_block_issue(struct profile *profile, struct vcpu *vcpu, uint64_t request)
{
	char name[KERNEL_NAME_MAX] = "";
	uint32_t bytes = 0, operation = 0;
	uint64_t disk = read_pointer(profile, request, OFFSET_REQUEST_DISK);

	if (!disk)
		disk = read_pointer(profile, read_pointer(profile, request, OFFSET_REQUEST_QUEUE), OFFSET_QUEUE_DISK);
	if (disk && profile->offsets[OFFSET_DISK_NAME] != OFFSET_UNKNOWN)
		guest_read_string(&profile->guest, disk + profile->offsets[OFFSET_DISK_NAME], name, 32 /* DISK_NAME_LEN */);
	read_member(profile, request, OFFSET_REQUEST_SIZE, &bytes, sizeof bytes);
	read_member(profile, request, OFFSET_REQUEST_FLAGS, &operation, sizeof operation);
	write_event(profile, vcpu, EVENT_BLOCK_ISSUE, request, (uint64_t)bytes << 8 | (operation & 0xff), name);
}

static uint64_t link_address(const struct profile *profile, uint64_t address)
{
	uint64_t link = address - profile->image.slide;

	return profile->image.slide_known && functions_span(&profile->image.functions, link) ? link : address;
}

/* Which task __switch_to() or cpu_switch_to() goes to. arm's is told of struct thread_infos: the previous task, its, the next's. */
static uint64_t next_task(const struct profile *profile, const uint64_t arguments[HOOK_ARGUMENTS])
{
	enum { THREAD_INFO_SIZE = 64, POINTER_SIZE = 4 };
	uint64_t task;

	if (profile->config->arch != ARCH_ARMV7)
		return arguments[1];
	if (arguments[0] == arguments[1]) /* since Linux 5.16 it is where the task is */
		return arguments[2];
	for (uint64_t offset = 0; offset < THREAD_INFO_SIZE; offset += POINTER_SIZE)
		if (guest_read_pointer(&profile->guest, arguments[1] + offset, &task) && task == arguments[0] &&
		    guest_read_pointer(&profile->guest, arguments[2] + offset, &task))
			return task;
	return arguments[2];
}

/* A function as another one is given it: on arm the lowest bit says that it is T32 code. */
static uint64_t function_address(const struct profile *profile, uint64_t pointer)
{
	return profile->config->arch == ARCH_ARMV7 ? pointer & ~UINT64_C(1) : pointer;
}

void hooks_reached(struct profile *profile, struct vcpu *vcpu, enum hook_kind kind, const uint64_t arguments[HOOK_ARGUMENTS])
{
	switch (kind) {
	case HOOK_SWITCH:
		return on_switch(profile, vcpu, arguments[0], next_task(profile, arguments));
	case HOOK_WAKE:
		return on_wake(profile, vcpu, arguments[0], arguments[1]);
	case HOOK_FORK:
		return on_fork(profile, vcpu, arguments[0]);
	case HOOK_EXEC:
		return on_exec(profile, vcpu, arguments[0]);
	case HOOK_COMMAND:
		return on_command(profile, vcpu, arguments[0]);
	case HOOK_COMM:
		return on_comm(profile, vcpu, arguments[0], arguments[1]);
	case HOOK_EXIT:
		return write_event(profile, vcpu, EVENT_EXIT, arguments[0], 0, "");
	case HOOK_INITCALL:
		return profile_open_call(profile, vcpu, CALL_INITCALL,
					 link_address(profile, function_address(profile, arguments[0])), "");
	case HOOK_PROBE:
		return on_probe(profile, vcpu, arguments[0], arguments[1]);
	case HOOK_DEFER:
		return on_defer(profile, vcpu, arguments[0]);
	case HOOK_MODULE:
		return on_module(profile, vcpu, arguments[0]);
	case HOOK_UNMAP_MODULE:
		return modules_unload(&profile->modules, arguments[0]);
	case HOOK_MAP:
		return on_map(profile, vcpu,
			      &(const struct mapping){ .task = vcpu->task->address,
						       .file = arguments[0],
						       .address = arguments[1],
						       .length = arguments[2],
						       .page_offset = arguments[4] });
	case HOOK_MAP_SPECIAL:
		return address_spaces_map_special(&profile->spaces, arguments);
	case HOOK_OPEN:
		return on_path(profile, vcpu, EVENT_OPEN, arguments[1]);
	case HOOK_LOOKUP:
		return on_path(profile, vcpu, EVENT_LOOKUP, arguments[1]);
	case HOOK_BLOCK_ISSUE:
		return on_block_issue(profile, vcpu, arguments[0]);
	case HOOK_BLOCK_DONE:
		return write_event(profile, vcpu, EVENT_BLOCK_DONE, arguments[0], (uint32_t)arguments[2], "");
	case HOOK_RELOCATE:
		/* U-Boot's relocate_code(): arm's has where to alone, riscv's behind its stack and its data. */
		return stages_move(&profile->stages, STAGE_UBOOT,
				   arguments[profile->config->arch == ARCH_RISCV64 ? 2 : 0] - profile->config->relocated_from);
	default:
		return; /* no record of its own */
	}
}
