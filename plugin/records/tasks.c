/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds tasks by the address of their task_struct, adds new ones and names them. */
#include "tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct task **bucket(struct tasks *tasks, uint64_t address)
{
	/* task_structs are aligned to a cache line at least. */
	return &tasks->buckets[(address >> 6) % TASK_BUCKETS];
}

struct task *tasks_find(struct tasks *tasks, uint64_t address)
{
	for (struct task *task = *bucket(tasks, address); task; task = task->next_in_bucket)
		if (task->address == address)
			return task;
	return NULL;
}

/* Its task_struct is no more; the struct task stays valid to the end. */
static void forget(struct tasks *tasks, struct task *task)
{
	for (struct task **link = bucket(tasks, task->address); *link; link = &(*link)->next_in_bucket)
		if (*link == task) {
			*link = task->next_in_bucket;
			break;
		}
	task->next_in_bucket = NULL;
	task->address = 0;
}

void tasks_place(struct tasks *tasks, struct task *task, uint64_t address)
{
	struct task *old = tasks_find(tasks, address);
	struct task **link = bucket(tasks, address);

	if (old)
		forget(tasks, old);
	task->address = address;
	task->next_in_bucket = *link;
	*link = task;
}

struct task *tasks_add(struct tasks *tasks, uint64_t address, uint32_t parent)
{
	struct task *task = calloc(1, sizeof *task);

	if (!task)
		return NULL;
	task->number = tasks->count++;
	task->parent = parent;
	task->pid = task->tgid = -1;
	task->next_of_all = tasks->all;
	tasks->all = task;
	if (address)
		tasks_place(tasks, task, address);
	return task;
}

void tasks_deinit(struct tasks *tasks)
{
	while (tasks->all) {
		struct task *task = tasks->all;

		tasks->all = task->next_of_all;
		stack_deinit(&task->stack);
		free(task);
	}
	memset(tasks->buckets, 0, sizeof tasks->buckets);
}

uint32_t tasks_frame_node(struct tree *tree, const struct stack *stack, uint32_t depth)
{
	const struct frame *frame = &stack->frames[depth];
	const struct frame *parent = depth ? frame - 1 : NULL;

	if (depth >= STACK_NODES_MAX)
		return parent->node;
	/* Calls within code without symbols would only repeat its name. */
	if (parent && frame->flags & FRAME_ANONYMOUS && frame->function == parent->function)
		return parent->node;
	return tree_child(tree, parent ? parent->node : stack->root, frame->function);
}

void tasks_name(struct tasks *tasks, struct task *task, uint64_t t_ns, const char *comm, int32_t pid, int32_t tgid)
{
	struct profile_task record = { .t_ns = t_ns, .task = task->number, .parent = task->parent, .pid = pid, .tgid = tgid };
	char text[COMM_SIZE + 16];

	memset(task->comm, 0, sizeof task->comm);
	snprintf(task->comm, sizeof task->comm, "%s", comm);
	task->pid = pid;
	task->tgid = tgid;
	task->named = true;
	memcpy(record.comm, task->comm, sizeof record.comm);
	profile_writer_add(tasks->writer, PROFILE_TASK, &record, sizeof record);
	snprintf(text, sizeof text, "%s-%d", task->comm, pid);
	task->stack.root = tree_child(tasks->tree, TREE_ROOT, names_add(tasks->names, SPACE_TASK, 0, text));
	for (uint32_t i = 0; i < task->stack.depth; i++)
		task->stack.frames[i].node = tasks_frame_node(tasks->tree, &task->stack, i);
}
