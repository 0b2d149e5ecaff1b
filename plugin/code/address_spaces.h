/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which file's code is at an address of a process.
 *
 * Followed from the kernel's own changes to a process's memory, never read while user code runs: with page table isolation
 * the kernel's structs are not mapped then. What is unmapped without being mapped anew stays known; nothing runs there.
 */
#ifndef BOOTLAB_ADDRESS_SPACES_H
#define BOOTLAB_ADDRESS_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code_map.h"
#include "config/config.h"
#include "mapped_files.h"
#include "records/names.h"

/* A part of a process's memory that shows a file. */
struct file_range {
	uint64_t low, high;
	uint64_t offset; /* of `low` in the file */
	struct mapped_file *file;
};

/* The memory of a process: a struct mm_struct. Threads share it. */
struct address_space {
	uint64_t mm;
	struct file_range *ranges; /* in no order, never overlapping */
	uint32_t n_ranges, capacity;
	struct address_space *next;
};

/* Whose memory a task_struct runs in. */
struct task_memory {
	uint64_t task, mm;
	struct task_memory *next;
};

enum { SPACE_BUCKETS = 1 << 8 };

struct address_spaces {
	const struct guest *guest;
	struct mapped_files files;
	struct address_space *spaces[SPACE_BUCKETS]; /* by mm */
	struct task_memory *tasks[SPACE_BUCKETS];
	uint64_t task_mm, program_mm; /* offsets; OFFSET_NONE: unknown */
	uint64_t dentry, inode, name, parent;
	bool names_known; /* the last four are */
};

/* mmap_region(): `task` (a task_struct) maps `file` (a struct file, 0: none) at `address`. */
struct mapping {
	uint64_t task, file, address, length, page_offset;
};

/*
 * Reads the objects that `config` names. `config`, `guest` and `names` must outlive it. Returns 0, or a negative errno with
 * one line in `message`.
 */
int address_spaces_init(const struct config *config, const struct guest *guest, struct names *names, char *message,
			size_t message_size, struct address_spaces *ret);
void address_spaces_deinit(struct address_spaces *spaces);

/* False: no file, or nothing is known of it; else its path, cut to `size`, in `path`. */
bool address_spaces_map(struct address_spaces *spaces, const struct mapping *mapping, char *path, size_t size);
/* _install_special_mapping(mm, address, length, flags, spec): the kernel's own code for user mode, `[vdso]` and the like. */
void address_spaces_map_special(struct address_spaces *spaces, const uint64_t arguments[5]);
/* wake_up_new_task(): `child` begins with its parent's memory, or shares it. Both are task_structs. */
void address_spaces_fork(struct address_spaces *spaces, uint64_t parent, uint64_t child);
/* begin_new_exec(): `task` is about to get a memory of its own, from the struct linux_binprm at `program`. */
void address_spaces_exec(struct address_spaces *spaces, uint64_t task, uint64_t program);

/*
 * The place of an address in the user's half as `task` sees it. CODE_ANONYMOUS: in a file without symbols, whose number
 * `function` is. False: in no file.
 */
bool address_spaces_find(struct address_spaces *spaces, uint64_t task, uint64_t address, struct code_place *ret);

#endif
