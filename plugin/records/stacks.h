/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shadow stack of one task: a frame for each call that has not returned yet.
 *
 * A return is matched by its address, never by the stack pointer: that is the same on all architectures and needs no
 * register. An exception or interrupt is a frame too; it remembers what was about to happen when it came.
 */
#ifndef BOOTLAB_STACKS_H
#define BOOTLAB_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum frame_flags {
	FRAME_EXCEPTION = 1, /* interrupt, exception or system call: ends by an exception return */
	FRAME_FROM_USER = 2, /* an exception that came in user mode */
	FRAME_USER = 4,	     /* user code */
	FRAME_ANONYMOUS = 8, /* its function stands for all code of its place */
	FRAME_INEXACT = 16,	   /* of its code, only the last 12 bits of addresses are comparable */
	FRAME_INEXACT_RETURN = 32, /* of its caller's */
	FRAME_FIRMWARE = 64, /* an exception that firmware takes, beneath the kernel */
};

struct frame {
	uint64_t return_address; /* exceptions: the mark that was pending */
	uint64_t start_ns;
	uint32_t node, function;
	uint32_t call; /* number of an open call + 1 (calls.h), 0: none */
	uint8_t flags;
};

/* Deeper frames share the node of this depth: no recursion makes the tree explode. */
enum { STACK_NODES_MAX = 400 };
/* And deeper ones are not kept at all. */
enum { STACK_FRAMES_MAX = 1 << 15 };

struct stack {
	struct frame *frames;
	uint32_t depth, capacity;
	uint32_t root; /* node */
};

void stack_deinit(struct stack *stack);

/* The node that is being executed. */
static inline uint32_t stack_node(const struct stack *stack)
{
	return stack->depth ? stack->frames[stack->depth - 1].node : stack->root;
}

static inline struct frame *stack_top(struct stack *stack)
{
	return stack->depth ? &stack->frames[stack->depth - 1] : NULL;
}

/* A new zeroed frame at the top; NULL when there is no room for it. */
struct frame *stack_push(struct stack *stack);

/*
 * The depth below the frame that returns to `address`, searching no further than the latest exception; -1: none. In
 * inexact frames only the last 12 bits are compared.
 */
int stack_find_return(const struct stack *stack, uint64_t address);
/* The depth below the latest exception frame that has all of `flags`; -1: none. */
int stack_find_exception(const struct stack *stack, uint8_t flags);

#endif
