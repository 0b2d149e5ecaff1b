/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pushes and pops the frames of a task's shadow stack. */
#include "stacks.h"

#include <stdlib.h>

enum { FIRST_FRAMES = 32 };
static const uint64_t PAGE_OFFSET_MASK = 0xfff;

void stack_deinit(struct stack *stack)
{
	free(stack->frames);
	stack->frames = NULL;
	stack->depth = stack->capacity = 0;
}

struct frame *stack_push(struct stack *stack)
{
	if (stack->depth == stack->capacity) {
		uint32_t capacity = stack->capacity ? 2 * stack->capacity : FIRST_FRAMES;
		struct frame *grown;

		if (capacity > STACK_FRAMES_MAX)
			return NULL;
		grown = realloc(stack->frames, capacity * sizeof *grown);
		if (!grown)
			return NULL;
		stack->frames = grown;
		stack->capacity = capacity;
	}
	stack->frames[stack->depth] = (struct frame){ 0 };
	return &stack->frames[stack->depth++];
}

int stack_find_return(const struct stack *stack, uint64_t address)
{
	for (int i = (int)stack->depth - 1; i >= 0; i--) {
		const struct frame *frame = &stack->frames[i];
		uint64_t difference = frame->return_address ^ address;

		if (frame->flags & FRAME_EXCEPTION)
			return -1;
		if (frame->flags & FRAME_INEXACT_RETURN)
			difference &= PAGE_OFFSET_MASK;
		if (!difference)
			return i;
	}
	return -1;
}

int stack_find_exception(const struct stack *stack, uint8_t flags)
{
	for (int i = (int)stack->depth - 1; i >= 0; i--)
		if ((stack->frames[i].flags & (FRAME_EXCEPTION | flags)) == (FRAME_EXCEPTION | flags))
			return i;
	return -1;
}
