/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follows the guest from one translated block to the next, and keeps the task's shadow stack in step. */
#include "flow.h"

#include <stddef.h>
#include <stdio.h>

/* An x86 instruction is not longer. */
enum { INSTRUCTION_MAX = 15 };

static uint8_t role_of(const struct profile *profile, uint32_t function)
{
	return function < profile->image.functions.count ? profile->image.functions.roles[function] : ROLE_PLAIN;
}

static uint8_t frame_flags_of(const struct block *block)
{
	return (block->place.flags & (CODE_KERNEL | CODE_STAGE) ? 0 : FRAME_USER) |
	       (block->place.flags & CODE_ANONYMOUS ? FRAME_ANONYMOUS : 0) |
	       (block->place.flags & CODE_INEXACT ? FRAME_INEXACT : 0);
}

static void count_call(struct profile *profile, const struct frame *frame)
{
	profile->tree.nodes[frame->node].calls++;
}

/* A jump enters a function at its first instruction only: X.cold jumps back into the middle of X, which was called before. */
static bool enters_function(const struct block *block)
{
	return block->place.flags & (CODE_START | CODE_ANONYMOUS);
}

/* The top frame is in another function now: how a call began, or a jump. */
static void name_top(struct profile *profile, struct task *task, uint32_t function, const struct block *block)
{
	enum { OF_CODE = FRAME_USER | FRAME_ANONYMOUS | FRAME_INEXACT };
	struct frame *top = stack_top(&task->stack);

	top->start_ns = profile_now(profile);
	top->function = function;
	top->flags = (uint8_t)((top->flags & ~OF_CODE) | frame_flags_of(block));
	top->node = tasks_frame_node(&profile->tree, &task->stack, task->stack.depth - 1);
	if (block->place.role == ROLE_SYSCALL && !top->call) {
		const struct open_call call = {
			.start_ns = top->start_ns,
			.task_instructions = task->instructions,
			.argument = function,
			.task = task->number,
			.kind = CALL_SYSTEM,
		};

		top->call = calls_open(&profile->calls, &call);
	}
}

static struct frame *push(struct profile *profile, struct task *task, uint64_t return_address, uint8_t flags,
			  uint32_t function, const struct block *block)
{
	const struct frame *caller = stack_top(&task->stack);
	bool inexact = caller && caller->flags & FRAME_INEXACT;
	struct frame *frame = stack_push(&task->stack);

	/* Too deep: the caller's frame stands for all above it, and their returns will fit no frame. */
	if (!frame)
		return NULL;
	frame->return_address = return_address;
	frame->flags = flags | (inexact ? FRAME_INEXACT_RETURN : 0);
	name_top(profile, task, function, block);
	return frame;
}

/*
 * A frame that keeps its name when its code jumps elsewhere: an exception's way out is part of it, whatever its parts are called
 * (error_return, ret_to_user).
 */
static bool keeps_name(const struct profile *profile, const struct frame *frame, const struct block *block)
{
	uint8_t role = role_of(profile, frame->function);

	return (role == ROLE_ENTRY || role == ROLE_STUBS || role == ROLE_FORK) && block->place.role == ROLE_PLAIN &&
	       block->place.flags & CODE_KERNEL;
}

/* Whatever led here, the code of `block` runs in the top frame. */
static void jump(struct profile *profile, struct task *task, const struct block *block)
{
	struct frame *top = stack_top(&task->stack);

	if (top && (top->function == block->place.function || keeps_name(profile, top, block)))
		return;
	/* Which function of a stage that is, nobody knows: still the one that was called. */
	if (top && block->place.flags & CODE_STAGE && block->place.flags & CODE_ANONYMOUS)
		return;
	/* The first frame of a stage stands for all of it. */
	if (!top || (task->stack.depth == 1 && block->place.flags & CODE_STAGE)) {
		top = push(profile, task, 0, 0, block->place.function, block);
	} else {
		profile_end_span(profile, task, top);
		name_top(profile, task, block->place.function, block);
	}
	if (top && enters_function(block))
		count_call(profile, top);
}

static void call(struct profile *profile, struct vcpu *vcpu, const struct block *block, uint64_t mark)
{
	struct task *task = vcpu->task;
	const struct frame *caller = stack_top(&task->stack);
	uint32_t function = block->place.function;
	bool console = mark_kind(mark) == MARK_CALL_INDIRECT && caller && caller->function == profile->console_init;

	/* Through code that returned at once and is no function of its own; or it had a condition (arm). */
	if (block->place.address == mark_address(mark))
		return;
	if (mark_kind(mark) == MARK_CALL_LINKED && !enters_function(block))
		return jump(profile, task, block);
	profile->counts.calls++;
	if (block->place.flags & CODE_STAGE && block->place.flags & CODE_ANONYMOUS)
		function = stages_called(&profile->stages, &block->place);
	if (!push(profile, task, mark_address(mark), 0, function, block))
		return;
	count_call(profile, stack_top(&task->stack));
	if (console)
		profile_open_call(profile, vcpu, CALL_INITCALL, block->place.address, "");
}

/* The stack of a task that has never run begins here: in the kernel, on its way to user mode if it is a process. */
static void begin_task(struct profile *profile, struct task *task, const struct block *block)
{
	int user = stack_find_exception(&task->stack, FRAME_FROM_USER);

	profile_drop_frames(profile, task, user < 0 ? 0 : (uint32_t)user);
	if (push(profile, task, 0, user < 0 ? 0 : FRAME_EXCEPTION | FRAME_FROM_USER, block->place.function, block))
		count_call(profile, stack_top(&task->stack));
}

static void come_back(struct profile *profile, struct task *task, const struct block *block, bool maybe)
{
	int depth = stack_find_return(&task->stack, block->place.address);

	if (depth >= 0)
		profile_drop_frames(profile, task, (uint32_t)depth);
	else if (block->place.role == ROLE_FORK && block->place.flags & CODE_START)
		return begin_task(profile, task, block);
	else if (!maybe)
		profile->counts.mismatched_returns++;
	jump(profile, task, block);
}

/* What was about to happen when an exception came happens now, unless the instruction is executed anew. */
static void resume(struct profile *profile, struct vcpu *vcpu, const struct block *block, uint64_t mark)
{
	uint64_t before = mark_address(mark) - block->place.address;

	switch (mark_kind(mark)) {
	case MARK_CALL:
	case MARK_CALL_INDIRECT:
		if (before == 0 || before > INSTRUCTION_MAX)
			return call(profile, vcpu, block, mark);
		break;
	case MARK_CALL_LINKED:
		return call(profile, vcpu, block, mark);
	case MARK_RETURN:
	case MARK_RETURN_MAYBE:
		return come_back(profile, vcpu->task, block, true);
	default:
		break;
	}
	jump(profile, vcpu->task, block);
}

static void return_from_exception(struct profile *profile, struct vcpu *vcpu, const struct block *block, uint64_t mark)
{
	struct task *task = vcpu->task;
	bool to_user = !(block->place.flags & (CODE_KERNEL | CODE_STAGE));
	int depth = stack_find_exception(&task->stack, to_user ? FRAME_FROM_USER : 0);
	/* From the firmware beneath a bootloader back to that: the stage's other returns fit calls of its own. */
	bool from_beneath = depth >= 0 && task->stack.frames[depth].flags & FRAME_FIRMWARE && !block->in_firmware;
	uint64_t pending = 0;

	if (block->place.flags & CODE_STAGE && !from_beneath)
		return come_back(profile, task, block, true);
	if (to_user && (depth < 0 || task->replaced)) {
		profile_drop_frames(profile, task, 0);
		task->replaced = false;
	} else if (depth >= 0 && (to_user || !(task->stack.frames[depth].flags & FRAME_FROM_USER)) &&
		   block->place.address != mark_address(mark)) {
		/* The last condition: to the next instruction, which is how x86 serializes itself (sync_core()). */
		pending = task->stack.frames[depth].return_address;
		profile_drop_frames(profile, task, (uint32_t)depth);
	}
	resume(profile, vcpu, block, pending);
}

/* From a row of stubs to what they have in common, say: it is still the same one. */
static bool continues_exception(const struct profile *profile, const struct task *task, uint64_t mark)
{
	const struct frame *top = task->stack.depth ? &task->stack.frames[task->stack.depth - 1] : NULL;
	uint8_t role = top && top->flags & FRAME_EXCEPTION ? role_of(profile, top->function) : ROLE_PLAIN;

	if (mark_kind(mark) == MARK_FUNCTION)
		return role == ROLE_ENTRY || role == ROLE_STUBS;
	return mark_kind(mark) == MARK_RETURN && role == ROLE_STUBS; /* arm64: they jump with a return */
}

/*
 * An exception came right behind the return from another one: nothing ran between, so that one is over. Not when x86 only
 * serializes itself (sync_core()), which it does deep in a call. True: the return was to user mode.
 */
static bool finish_exception(struct profile *profile, struct task *task, uint64_t *mark)
{
	struct stack *stack = &task->stack;
	struct frame *top = stack_top(stack);
	bool to_user;

	if (!top || !(top->flags & FRAME_EXCEPTION || (stack->depth == 1 && role_of(profile, top->function) == ROLE_FORK)))
		return false;
	to_user = !(top->flags & FRAME_EXCEPTION) || top->flags & FRAME_FROM_USER;
	*mark = top->flags & FRAME_EXCEPTION ? top->return_address : 0;
	profile_drop_frames(profile, task, to_user && task->replaced ? 0 : stack->depth - 1);
	if (to_user)
		task->replaced = false;
	return to_user;
}

static void begin_exception(struct profile *profile, struct vcpu *vcpu, const struct block *block, uint64_t mark)
{
	struct task *task = vcpu->task;
	bool from_user = false, pending;
	const struct frame *top;

	while (mark_kind(mark) == MARK_EXCEPTION_RETURN && !from_user) {
		uint64_t before = mark;

		from_user = finish_exception(profile, task, &mark);
		if (mark == before)
			break;
	}
	top = stack_top(&task->stack);
	from_user = from_user || (top && top->flags & FRAME_USER);
	pending = mark_kind(mark) != MARK_FUNCTION && mark_kind(mark) != MARK_HALT;
	profile->counts.interrupts++;
	if (push(profile, task, pending ? mark : 0,
		 FRAME_EXCEPTION | (from_user ? FRAME_FROM_USER : 0) | (block->in_firmware ? FRAME_FIRMWARE : 0),
		 block->place.function, block))
		count_call(profile, stack_top(&task->stack));
}

static void begin_stage(struct profile *profile, struct vcpu *vcpu, const struct block *block)
{
	enum stage_kind kind = block->begins_stage ? profile->stage : STAGE_STARTUP;

	profile_drop_frames(profile, vcpu->task, 0);
	if (push(profile, vcpu->task, 0, 0, profile->stages.kinds[kind].number, block))
		count_call(profile, stack_top(&vcpu->task->stack));
	jump(profile, vcpu->task, block);
}

/* Firmware has left a vCPU waiting, and the kernel wakes it where it likes. */
static bool begins_startup(const struct profile *profile, const struct vcpu *vcpu, const struct block *block)
{
	const struct stack *stack = &vcpu->task->stack;

	return block->place.flags & CODE_STAGE && block->place.function == profile->stages.kinds[STAGE_STARTUP].number &&
	       (!stack->depth || stack->frames[0].function != block->place.function);
}

/*
 * riscv64's firmware stays beneath what it has started, the kernel or a bootloader: it takes calls from it, and what neither
 * that nor the kernel's programs may do.
 */
static bool begins_trap(const struct profile *profile, const struct vcpu *vcpu, const struct block *block)
{
	const struct stack *stack = &vcpu->task->stack;
	int latest = stack_find_exception(stack, 0);

	return block->in_firmware && (vcpu->task != &vcpu->stage || profile->stage != profile->beneath) &&
	       (latest < 0 || !(stack->frames[latest].flags & FRAME_FIRMWARE));
}

/* The thread that the machine begins with is swapper/0; that of another vCPU is that vCPU's idle task. */
static void begin_kernel(struct profile *profile, struct vcpu *vcpu)
{
	struct task *task = tasks_add(&profile->tasks, 0, PROFILE_NO_TASK);
	char comm[COMM_SIZE + 1];

	if (!task)
		return;
	profile_drop_frames(profile, vcpu->task, 0);
	vcpu->task = task;
	snprintf(comm, sizeof comm, "swapper/%u", vcpu->number % 1000);
	tasks_name(&profile->tasks, task, profile_now(profile), comm, 0, 0);
}

void flow_enter(struct profile *profile, struct vcpu *vcpu, const struct block *block, uint64_t mark, uint64_t instructions)
{
	profile_charge(profile, instructions);
	profile->running = vcpu;
	profile->counts.transitions++;
	if (vcpu->task == &vcpu->stage && block->place.flags & CODE_KERNEL)
		begin_kernel(profile, vcpu);
	else if (block->begins_stage || begins_startup(profile, vcpu, block))
		return begin_stage(profile, vcpu, block);
	if (begins_trap(profile, vcpu, block))
		return begin_exception(profile, vcpu, block, mark);
	if (block->enters) {
		if (continues_exception(profile, vcpu->task, mark))
			return jump(profile, vcpu->task, block);
		return begin_exception(profile, vcpu, block, mark);
	}
	switch (mark_kind(mark)) {
	case MARK_CALL:
	case MARK_CALL_INDIRECT:
	case MARK_CALL_LINKED:
		return call(profile, vcpu, block, mark);
	case MARK_RETURN:
		if (mark_address(mark) && block->place.address == mark_address(mark))
			return jump(profile, vcpu->task, block); /* its condition was not met */
		if (block->place.flags & CODE_STAGE)
			return come_back(profile, vcpu->task, block, true);
		profile->counts.returns++;
		return come_back(profile, vcpu->task, block, false);
	case MARK_RETURN_MAYBE:
		return come_back(profile, vcpu->task, block, true);
	case MARK_EXCEPTION_RETURN:
		return return_from_exception(profile, vcpu, block, mark);
	default:
		return jump(profile, vcpu->task, block);
	}
}

void flow_copy_user_frames(struct profile *profile, const struct task *parent, struct task *child)
{
	int user = stack_find_exception(&parent->stack, FRAME_FROM_USER);

	for (int i = 0; i <= user; i++) {
		struct frame *frame = stack_push(&child->stack);

		if (!frame)
			return profile_drop_frames(profile, child, 0);
		*frame = parent->stack.frames[i];
		frame->start_ns = profile_now(profile);
		frame->call = 0;
		frame->node = tasks_frame_node(&profile->tree, &child->stack, (uint32_t)i);
		if (i == user)
			frame->return_address = 0;
	}
}
