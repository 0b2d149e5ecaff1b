/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follows which files each process has mapped where, and finds the one at an address. */
#include "address_spaces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PAGE_SHIFT = 12,
	PATH_SIZE = 512,
	DEEPEST_PATH = 64,
};

#define OFFSET_NONE UINT64_MAX

static uint64_t find_offset(const struct config *config, const char *name)
{
	uint64_t offset;

	return config_offset(config, name, &offset) ? offset : OFFSET_NONE;
}

int address_spaces_init(const struct config *config, const struct guest *guest, struct names *names, char *message,
			size_t message_size, struct address_spaces *ret)
{
	*ret = (struct address_spaces){
		.guest = guest,
		.task_mm = find_offset(config, "task_struct.mm"),
		.program_mm = find_offset(config, "linux_binprm.mm"),
		.dentry = find_offset(config, "file.f_path.dentry"),
		.inode = find_offset(config, "file.f_inode"),
		.name = find_offset(config, "dentry.d_name.name"),
		.parent = find_offset(config, "dentry.d_parent"),
	};
	ret->names_known = ret->dentry != OFFSET_NONE && ret->inode != OFFSET_NONE && ret->name != OFFSET_NONE &&
			   ret->parent != OFFSET_NONE;
	return mapped_files_init(config, names, message, message_size, &ret->files);
}

void address_spaces_deinit(struct address_spaces *spaces)
{
	for (size_t i = 0; i < SPACE_BUCKETS; i++) {
		while (spaces->spaces[i]) {
			struct address_space *space = spaces->spaces[i];

			spaces->spaces[i] = space->next;
			free(space->ranges);
			free(space);
		}
		while (spaces->tasks[i]) {
			struct task_memory *task = spaces->tasks[i];

			spaces->tasks[i] = task->next;
			free(task);
		}
	}
	mapped_files_deinit(&spaces->files);
}

static size_t bucket(uint64_t address)
{
	/* Both structs are aligned to a cache line. */
	return (address >> 6) % SPACE_BUCKETS;
}

static struct address_space *find_space(struct address_spaces *spaces, uint64_t mm)
{
	struct address_space *space = spaces->spaces[bucket(mm)];

	while (space && space->mm != mm)
		space = space->next;
	return space;
}

static struct address_space *get_space(struct address_spaces *spaces, uint64_t mm)
{
	struct address_space *space = find_space(spaces, mm);

	if (space)
		return space;
	space = calloc(1, sizeof *space);
	if (!space)
		return NULL;
	space->mm = mm;
	space->next = spaces->spaces[bucket(mm)];
	spaces->spaces[bucket(mm)] = space;
	return space;
}

static uint64_t find_memory(const struct address_spaces *spaces, uint64_t task)
{
	const struct task_memory *memory = spaces->tasks[bucket(task)];

	while (memory && memory->task != task)
		memory = memory->next;
	return memory ? memory->mm : 0;
}

static void set_memory(struct address_spaces *spaces, uint64_t task, uint64_t mm)
{
	struct task_memory *memory = spaces->tasks[bucket(task)];

	while (memory && memory->task != task)
		memory = memory->next;
	if (!memory) {
		memory = calloc(1, sizeof *memory);
		if (!memory)
			return;
		memory->task = task;
		memory->next = spaces->tasks[bucket(task)];
		spaces->tasks[bucket(task)] = memory;
	}
	memory->mm = mm;
}

/* What the kernel says now; 0 for a kernel thread and where nothing can be read. */
static uint64_t read_memory_of(struct address_spaces *spaces, uint64_t task)
{
	uint64_t mm;

	if (!task || spaces->task_mm == OFFSET_NONE || !guest_read_pointer(spaces->guest, task + spaces->task_mm, &mm))
		return 0;
	set_memory(spaces, task, mm);
	return mm;
}

static bool add_range(struct address_space *space, struct file_range range)
{
	if (space->n_ranges == space->capacity) {
		uint32_t capacity = space->capacity ? 2 * space->capacity : 16;
		struct file_range *grown = realloc(space->ranges, capacity * sizeof *grown);

		if (!grown)
			return false;
		space->ranges = grown;
		space->capacity = capacity;
	}
	space->ranges[space->n_ranges++] = range;
	return true;
}

/* Something else is mapped there: what a range has on either side of it stays. */
static void clear(struct address_space *space, uint64_t low, uint64_t high)
{
	uint32_t n = space->n_ranges;

	for (uint32_t i = 0; i < n; i++) {
		struct file_range *range = &space->ranges[i], behind = *range;

		if (range->high <= low || range->low >= high)
			continue;
		behind.low = high;
		behind.offset += high - range->low;
		range->high = low;
		if (range->low >= low && behind.low < behind.high)
			*range = behind;
		else if (range->low < low && behind.low < behind.high)
			add_range(space, behind);
	}
	n = 0;
	for (uint32_t i = 0; i < space->n_ranges; i++)
		if (space->ranges[i].low < space->ranges[i].high)
			space->ranges[n++] = space->ranges[i];
	space->n_ranges = n;
}

/* From the root of its file system. Whatever cannot be read is left out. */
static void read_path(const struct address_spaces *spaces, uint64_t dentry, char ret[PATH_SIZE])
{
	size_t start = PATH_SIZE - 1;
	char path[PATH_SIZE] = "", name[256];

	for (int depth = 0; depth < DEEPEST_PATH; depth++) {
		uint64_t parent, text;
		size_t size;

		if (!guest_read_pointer(spaces->guest, dentry + spaces->parent, &parent) || parent == dentry ||
		    !guest_read_pointer(spaces->guest, dentry + spaces->name, &text))
			break;
		guest_read_string(spaces->guest, text, name, sizeof name);
		size = strlen(name);
		if (size + 1 > start)
			break;
		start -= size + 1;
		path[start] = '/';
		memcpy(path + start + 1, name, size);
		dentry = parent;
	}
	memcpy(ret, path + start, PATH_SIZE - start);
}

static struct mapped_file *find_file(struct address_spaces *spaces, uint64_t file)
{
	uint64_t dentry, inode;
	char path[PATH_SIZE];

	if (!spaces->names_known || !guest_read_pointer(spaces->guest, file + spaces->dentry, &dentry) ||
	    !guest_read_pointer(spaces->guest, file + spaces->inode, &inode))
		return NULL;
	read_path(spaces, dentry, path);
	return *path ? mapped_files_get(&spaces->files, inode, path) : NULL;
}

bool address_spaces_map(struct address_spaces *spaces, const struct mapping *mapping, char *path, size_t size)
{
	uint64_t mm = read_memory_of(spaces, mapping->task), high = mapping->address + mapping->length;
	struct address_space *space = mm ? get_space(spaces, mm) : NULL;
	struct file_range range = { .low = mapping->address, .high = high, .offset = mapping->page_offset << PAGE_SHIFT };

	if (!space || high <= mapping->address)
		return false;
	clear(space, mapping->address, high);
	range.file = mapping->file ? find_file(spaces, mapping->file) : NULL;
	if (!range.file || !add_range(space, range))
		return false;
	snprintf(path, size, "%s", range.file->path);
	return true;
}

void address_spaces_map_special(struct address_spaces *spaces, const uint64_t arguments[5])
{
	uint64_t mm = arguments[0], low = arguments[1], high = low + arguments[2], spec = arguments[4], text;
	struct address_space *space = mm ? get_space(spaces, mm) : NULL;
	struct file_range range = { .low = low, .high = high };
	char name[64];

	if (!space || high <= low)
		return;
	clear(space, low, high);
	/* Its name is the first member of struct vm_special_mapping. */
	if (!guest_read_pointer(spaces->guest, spec, &text))
		return;
	guest_read_string(spaces->guest, text, name, sizeof name);
	range.file = *name ? mapped_files_get(&spaces->files, spec, name) : NULL;
	if (range.file)
		add_range(space, range);
}

void address_spaces_fork(struct address_spaces *spaces, uint64_t parent, uint64_t child)
{
	uint64_t from = read_memory_of(spaces, parent), to = read_memory_of(spaces, child);
	struct address_space *old = from ? find_space(spaces, from) : NULL;
	struct address_space *new = to && to != from ? get_space(spaces, to) : NULL;

	if (!to)
		set_memory(spaces, child, 0);
	if (!new)
		return;
	new->n_ranges = 0;
	for (uint32_t i = 0; old && i < old->n_ranges; i++)
		add_range(new, old->ranges[i]);
}

void address_spaces_exec(struct address_spaces *spaces, uint64_t task, uint64_t program)
{
	struct address_space *space;
	uint64_t mm;

	if (!task || spaces->program_mm == OFFSET_NONE ||
	    !guest_read_pointer(spaces->guest, program + spaces->program_mm, &mm) || !mm)
		return;
	set_memory(spaces, task, mm);
	space = get_space(spaces, mm);
	if (space)
		space->n_ranges = 0;
}

bool address_spaces_find(struct address_spaces *spaces, uint64_t task, uint64_t address, struct code_place *ret)
{
	uint64_t mm = task ? find_memory(spaces, task) : 0;
	const struct address_space *space = mm ? find_space(spaces, mm) : NULL;

	for (uint32_t i = 0; space && i < space->n_ranges; i++) {
		const struct file_range *range = &space->ranges[i];

		if (address >= range->low && address < range->high) {
			mapped_file_place(&spaces->files, range->file, range->offset + address - range->low, ret);
			return true;
		}
	}
	return false;
}
