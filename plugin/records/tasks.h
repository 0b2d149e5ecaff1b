/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tasks: processes and kernel threads by their task_struct, each with its shadow stack. */
#ifndef BOOTLAB_TASKS_H
#define BOOTLAB_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "names.h"
#include "stacks.h"
#include "tree.h"

enum { COMM_SIZE = 16 };

struct task {
	uint32_t number; /* PROFILE_NO_TASK: not a task, the code before the kernel */
	uint32_t parent; /* number */
	uint64_t address; /* of its task_struct, 0 while unknown */
	int32_t pid, tgid;
	char comm[COMM_SIZE + 1];
	uint64_t instructions; /* executed by it so far, interrupts included */
	bool named;	       /* its comm and pid have been read */
	bool replaced;	       /* its program was replaced: its user frames are of another one */
	struct stack stack;
	struct task *next_in_bucket, *next_of_all;
};

enum { TASK_BUCKETS = 1 << 10 };

struct tasks {
	struct profile_writer *writer;
	struct names *names;
	struct tree *tree;
	uint32_t count;
	struct task *buckets[TASK_BUCKETS]; /* those that live, by address */
	struct task *all;		    /* every one ever made */
};

void tasks_deinit(struct tasks *tasks);

/*
 * A new task without a name and a stack. `address` 0: it is not known yet, and comes with tasks_place(). NULL: out of memory.
 * A task that has the same address is forgotten: its task_struct was freed.
 */
struct task *tasks_add(struct tasks *tasks, uint64_t address, uint32_t parent);
struct task *tasks_find(struct tasks *tasks, uint64_t address);
void tasks_place(struct tasks *tasks, struct task *task, uint64_t address);

/*
 * Give it a name and a number of the kernel's. Its stacks begin at a new root from then on, frames it has included.
 */
void tasks_name(struct tasks *tasks, struct task *task, uint64_t t_ns, const char *comm, int32_t pid, int32_t tgid);

/* Node of the frame at `depth`, as its parents say. */
uint32_t tasks_frame_node(struct tree *tree, const struct stack *stack, uint32_t depth);

#endif
