/* SPDX-License-Identifier: MIT */
/*
 * Large tables that only the process itself reads and writes: a plain fork does not take them along. A fork costs what its memory
 * costs: page tables to copy, and a copy of each page that is written to afterwards.
 */
#ifndef BOOTLAB_SHARED_OWN_H
#define BOOTLAB_SHARED_OWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Such a table, all zeros, for good. There is room for those that there are; it is no heap. */
void *own_take(size_t size);

/* Make the pointer `table` one to such a table of `n`, unless it is. */
#define OWN_TABLE(table, n) ((table) = (table) ? (table) : own_take((n) * sizeof *(table)))

/* Room that only a child ever writes to: it lies here, where it does not part what PID 1 writes to. */
void *own_room_of_child(size_t size);

/* From now on a fork() is without them. A kernel that cannot do that (CONFIG_ADVISE_SYSCALLS) takes them along. */
void own_keep(void);

/*
 * Nor has it this: pages of zeros, NULL when there are none to be had; and give them back. Three at a time, besides the tables. With
 * `is_shared` an own_fork() has the very same pages, at the same place: what it writes there is here, too.
 */
void *own_map(size_t size, bool is_shared);
void own_unmap(void *bytes);

/* A fork that has them all the same. */
pid_t own_fork(void);

#endif
