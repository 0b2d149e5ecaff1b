/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the members of task_struct by looking at the first tasks of a kernel that does not describe it. */
#include "task_layout.h"

#include <stdlib.h>
#include <string.h>

enum {
	STEP = 64,
	STATE_WITHIN = 256, /* behind struct thread_info, */
	STATE_WITHIN_ARM = 1024, /* which on 32-bit arm has the floating-point registers */
	TASK_NEW = 0x800,
};

enum { PROGRAM_SIZE = 256, PATH_SIZE = 64 };

static const char BOOT_TASK[] = "swapper";
static const char PATH_LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+";

void task_layout_deinit(struct task_layout *layout)
{
	free(layout->first);
	layout->first = NULL;
}

static bool read_task(const struct guest *guest, uint64_t task, uint8_t *ret)
{
	size_t got = 0;

	memset(ret, 0, TASK_LAYOUT_SIZE);
	while (got < TASK_LAYOUT_SIZE && guest->read(task + got, ret + got, STEP))
		got += STEP;
	return got > 0;
}

static uint32_t word(const uint8_t *task, uint64_t offset)
{
	uint32_t value;

	memcpy(&value, task + offset, sizeof value);
	return value;
}

/* The only place where both tasks have what is asked for; two places are as good as none. */
static uint64_t find_only(const uint8_t *first, const uint8_t *second, uint64_t end, uint64_t step,
			  bool (*is_there)(const uint8_t *first, const uint8_t *second, uint64_t offset))
{
	uint64_t found = TASK_LAYOUT_UNKNOWN;

	for (uint64_t offset = 0; offset < end; offset += step) {
		if (!is_there(first, second, offset))
			continue;
		if (found != TASK_LAYOUT_UNKNOWN)
			return TASK_LAYOUT_UNKNOWN;
		found = offset;
	}
	return found;
}

static bool is_pid(const uint8_t *first, const uint8_t *second, uint64_t offset)
{
	return word(first, offset) == 1 && word(first, offset + 4) == 1 && word(second, offset) == 2 &&
	       word(second, offset + 4) == 2;
}

static bool is_state(const uint8_t *first, const uint8_t *second, uint64_t offset)
{
	return word(first, offset) == TASK_NEW && word(second, offset) == TASK_NEW;
}

static bool is_comm(const uint8_t *first, const uint8_t *second, uint64_t offset)
{
	return !memcmp(first + offset, BOOT_TASK, strlen(BOOT_TASK)) && !memcmp(second + offset, BOOT_TASK, strlen(BOOT_TASK));
}

bool task_layout_learn(struct task_layout *layout, const struct guest *guest, uint64_t task, struct task_members *ret)
{
	uint8_t *read = layout->seen < 2 ? malloc(TASK_LAYOUT_SIZE) : NULL;
	bool done = false;

	layout->seen++;
	if (!read || !read_task(guest, task, read)) {
		free(read);
		return false;
	}
	if (layout->seen == 1) {
		layout->first = read;
		return false;
	}
	if (layout->first) {
		ret->pid = find_only(layout->first, read, TASK_LAYOUT_SIZE - 8, 4, is_pid);
		ret->tgid = ret->pid == TASK_LAYOUT_UNKNOWN ? TASK_LAYOUT_UNKNOWN : ret->pid + 4;
		ret->state = find_only(layout->first, read, guest->narrow ? STATE_WITHIN_ARM : STATE_WITHIN, 4, is_state);
		ret->comm = find_only(layout->first, read, TASK_LAYOUT_SIZE - 16, 1, is_comm);
		done = true;
	}
	free(read);
	task_layout_deinit(layout);
	return done;
}

uint64_t task_layout_find_path(const struct guest *guest, uint64_t program)
{
	for (uint64_t offset = 0; offset < PROGRAM_SIZE; offset += guest_pointer_size(guest)) {
		char path[PATH_SIZE];
		uint64_t text;

		if (!guest_read_pointer(guest, program + offset, &text))
			break;
		guest_read_string(guest, text, path, sizeof path);
		/* No pointer begins with a slash and letters when it is read as text. */
		if (path[0] == '/' && strlen(path) > 2 && strspn(path, PATH_LETTERS) == strlen(path))
			return offset;
	}
	return TASK_LAYOUT_UNKNOWN;
}
