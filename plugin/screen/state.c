/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes and reads the state of the watch, mark by mark, and the latest frame. */
#include "state.h"

#include <errno.h>
#include <string.h>

static const char MAGIC[16] = "bootlab-screen1";

struct head {
	char magic[sizeof MAGIC];
	size_t n_marks, n_typings;
	struct watch watch; /* its pointers mean nothing to another process */
	struct screen_counts counts;
	uint32_t width, height;
};

static bool write_all(FILE *file, const void *from, size_t size, size_t count)
{
	return !count || fwrite(from, size, count, file) == count;
}

static bool read_all(FILE *file, void *to, size_t size, size_t count)
{
	return !count || fread(to, size, count, file) == count;
}

int screen_state_write(FILE *file, const struct watch *watch, const struct frame *latest, const struct screen_counts *counts)
{
	struct head head;

	memset(&head, 0, sizeof head); /* no byte of padding is left to chance */
	memcpy(head.magic, MAGIC, sizeof MAGIC);
	head.n_marks = watch->config->n_screen_marks;
	head.n_typings = watch->config->n_screen_typings;
	head.watch = *watch;
	head.counts = *counts;
	head.width = latest->width;
	head.height = latest->height;
	if (!write_all(file, &head, sizeof head, 1) || !write_all(file, watch->marks, sizeof *watch->marks, head.n_marks) ||
	    !write_all(file, watch->typings, sizeof *watch->typings, head.n_typings) ||
	    !write_all(file, latest->pixels, sizeof *latest->pixels, (size_t)head.width * head.height) || fflush(file))
		return errno ? -errno : -EIO;
	return 0;
}

int screen_state_read(FILE *file, struct watch *watch, struct frame *latest, struct screen_counts *counts)
{
	struct head head;
	struct watch opened = *watch;
	int r;

	if (!read_all(file, &head, sizeof head, 1) || memcmp(head.magic, MAGIC, sizeof MAGIC) ||
	    head.n_marks != opened.config->n_screen_marks || head.n_typings != opened.config->n_screen_typings)
		return -EINVAL;
	for (size_t i = 0; i < head.n_marks; i++) {
		struct mark_state state;

		if (!read_all(file, &state, sizeof state, 1))
			return -EINVAL;
		state.picture = opened.marks[i].picture;
		opened.marks[i] = state;
	}
	if (!read_all(file, opened.typings, sizeof *opened.typings, head.n_typings))
		return -EINVAL;
	for (size_t i = 0; i < head.n_typings; i++)
		if (opened.typings[i].next > opened.config->screen_typings[i].n_keys)
			return -EINVAL;
	r = frame_resize(latest, head.width, head.height);
	if (r)
		return r;
	if (!read_all(file, latest->pixels, sizeof *latest->pixels, (size_t)head.width * head.height))
		return -EINVAL;
	*watch = head.watch;
	watch->config = opened.config;
	watch->marks = opened.marks;
	watch->typings = opened.typings;
	watch->shift = opened.shift;
	*counts = head.counts;
	return 0;
}
