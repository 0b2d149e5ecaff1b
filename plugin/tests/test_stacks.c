/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the shadow stack: returns by address, frames that are left out, exceptions. */
#include "records/stacks.h"

#include "check.h"

static void push(struct stack *stack, uint64_t return_address, uint8_t flags)
{
	struct frame *frame = stack_push(stack);

	CHECK(frame && !frame->call && !frame->start_ns);
	frame->return_address = return_address;
	frame->flags = flags;
}

int main(void)
{
	struct stack stack = { .root = 9 };
	uint32_t pushed = 0;

	CHECK(stack_node(&stack) == 9 && !stack_top(&stack));
	CHECK(stack_find_return(&stack, 0) == -1 && stack_find_exception(&stack, 0) == -1);
	push(&stack, 0x401020, FRAME_USER | FRAME_INEXACT_RETURN);
	push(&stack, 0x402030, FRAME_USER);
	CHECK(stack_find_return(&stack, 0x7ff401020) == 0); /* the same place in a page */
	CHECK(stack_find_return(&stack, 0x7ff402030) == -1);
	CHECK(stack_find_return(&stack, 0x402030) == 1);
	push(&stack, 0, FRAME_EXCEPTION | FRAME_FROM_USER);
	push(&stack, 0x10, 0);
	push(&stack, 0x20, 0);
	push(&stack, 0x10, 0); /* the latest of several */
	CHECK(stack_find_return(&stack, 0x10) == 5 && stack_find_return(&stack, 0x20) == 4);
	CHECK(stack_find_return(&stack, 0x402030) == -1); /* not beyond an exception */
	push(&stack, 0, FRAME_EXCEPTION);
	CHECK(stack_find_exception(&stack, 0) == 6 && stack_find_exception(&stack, FRAME_FROM_USER) == 2);
	stack_top(&stack)->node = 3;
	CHECK(stack_node(&stack) == 3);

	while (stack_push(&stack))
		pushed++;
	CHECK(stack.depth == STACK_FRAMES_MAX && pushed == STACK_FRAMES_MAX - 7);
	CHECK(stack_find_return(&stack, 0x402030) == -1 && stack_find_exception(&stack, FRAME_FROM_USER) == 2);
	stack_deinit(&stack);
	CHECK(stack_node(&stack) == 9);
	puts("test_stacks: ok");
	return 0;
}
