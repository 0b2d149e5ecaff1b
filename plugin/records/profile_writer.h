/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the profile (profile_format.h): buffered chunks, names and nodes always ahead of what refers to them. */
#ifndef BOOTLAB_PROFILE_WRITER_H
#define BOOTLAB_PROFILE_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile_format.h"

struct profile_buffer {
	uint8_t *bytes; /* whole chunks, or the records of one */
	size_t size;
};

struct profile_writer {
	FILE *file;
	int error; /* the first failure, -errno; everything after it is dropped */
	struct profile_buffer buffers[PROFILE_KINDS];
};

/* Create the file and write its magic. Returns 0 or -errno. */
int profile_writer_open(const char *path, struct profile_writer *ret);
/* Flush and close. Returns 0, or the first failure of any write as -errno. */
int profile_writer_close(struct profile_writer *writer);

/* One record of a kind that comes as arrays. */
void profile_writer_add(struct profile_writer *writer, enum profile_chunk kind, const void *record, size_t size);
/* One record that is a chunk by itself, with `text_size` bytes of text behind it. */
void profile_writer_add_text(struct profile_writer *writer, enum profile_chunk kind, const void *record, size_t size,
			     const char *text, size_t text_size);
/* Everything added so far reaches the file. */
void profile_writer_flush(struct profile_writer *writer);

#endif
