/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where comm, pid and state are in a task_struct, and the path in a linux_binprm, of a kernel that does not say
 * (CONFIG_DEBUG_INFO_BTF).
 *
 * The first two tasks that every kernel makes tell: pid and tgid of kernel_init are 1, those of kthreadd are 2, both are
 * still called what the boot's own thread is, and a task that has never run is in state TASK_NEW (Linux 4.8 and later).
 */
#ifndef BOOTLAB_TASK_LAYOUT_H
#define BOOTLAB_TASK_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "code/guest_memory.h"

enum { TASK_LAYOUT_SIZE = 12 * 1024 }; /* no task_struct has them further in */

struct task_layout {
	unsigned seen; /* tasks */
	uint8_t *first;
};

/* What was found, TASK_LAYOUT_UNKNOWN for each that was not. */
struct task_members {
	uint64_t comm, pid, tgid, state;
};

#define TASK_LAYOUT_UNKNOWN UINT64_MAX

/*
 * wake_up_new_task(task) begins, for the first and then for the second time. True, and `ret`: at the second; false always
 * afterwards.
 */
bool task_layout_learn(struct task_layout *layout, const struct guest *guest, uint64_t task, struct task_members *ret);
void task_layout_deinit(struct task_layout *layout);

/* Which member of the struct linux_binprm at `program` is its path: the first that leads to one. TASK_LAYOUT_UNKNOWN: none. */
uint64_t task_layout_find_path(const struct guest *guest, uint64_t program);

#endif
