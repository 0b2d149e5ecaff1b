/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the profile's chunks to its file, and remembers the first error. */
#include "profile_writer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_SIZE = 1 << 16 };

/* What any other kind may refer to, in the order in which they refer to each other. */
static const enum profile_chunk first[] = { PROFILE_NAME, PROFILE_TASK, PROFILE_NODE };

static bool comes_as_array(enum profile_chunk kind)
{
	switch (kind) {
	case PROFILE_NODE: case PROFILE_WEIGHT: case PROFILE_TASK: case PROFILE_SWITCH: case PROFILE_WAKE:
	case PROFILE_IDLE: case PROFILE_SPAN: case PROFILE_SYSCALL: case PROFILE_CHARGED:
	case PROFILE_TRAP: case PROFILE_PAGE:
		return true;
	default:
		return false;
	}
}

static void put(struct profile_writer *writer, const void *bytes, size_t size)
{
	if (!writer->error && fwrite(bytes, 1, size, writer->file) != size)
		writer->error = errno ? -errno : -EIO;
}

static void flush_kind(struct profile_writer *writer, enum profile_chunk kind)
{
	struct profile_buffer *buffer = &writer->buffers[kind];
	struct profile_chunk_header header = { .kind = kind, .size = (uint32_t)buffer->size };

	if (!buffer->size)
		return;
	if (comes_as_array(kind))
		put(writer, &header, sizeof header);
	put(writer, buffer->bytes, buffer->size);
	buffer->size = 0;
}

static void flush_with_references(struct profile_writer *writer, enum profile_chunk kind)
{
	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		flush_kind(writer, first[i]);
	flush_kind(writer, kind);
}

static uint8_t *reserve(struct profile_writer *writer, enum profile_chunk kind, size_t size)
{
	struct profile_buffer *buffer = &writer->buffers[kind];
	uint8_t *place;

	if (buffer->size + size > BUFFER_SIZE)
		flush_with_references(writer, kind);
	if (!buffer->bytes)
		buffer->bytes = malloc(BUFFER_SIZE);
	if (!buffer->bytes || size > BUFFER_SIZE) {
		writer->error = writer->error ? writer->error : -ENOMEM;
		return NULL;
	}
	place = buffer->bytes + buffer->size;
	buffer->size += size;
	return place;
}

int profile_writer_open(const char *path, struct profile_writer *ret)
{
	struct profile_writer writer = { .file = fopen(path, "we") };

	if (!writer.file)
		return -errno;
	put(&writer, PROFILE_MAGIC, sizeof PROFILE_MAGIC - 1);
	if (!writer.error && fflush(writer.file))
		writer.error = -errno;
	if (writer.error) {
		fclose(writer.file);
		return writer.error;
	}
	*ret = writer;
	return 0;
}

void profile_writer_add(struct profile_writer *writer, enum profile_chunk kind, const void *record, size_t size)
{
	uint8_t *place = reserve(writer, kind, size);

	if (place)
		memcpy(place, record, size);
}

void profile_writer_add_text(struct profile_writer *writer, enum profile_chunk kind, const void *record, size_t size,
			     const char *text, size_t text_size)
{
	size_t padded = (text_size + 7) & ~(size_t)7;
	struct profile_chunk_header header = { .kind = kind, .size = (uint32_t)(size + padded) };
	uint8_t *place = reserve(writer, kind, sizeof header + size + padded);

	if (!place)
		return;
	memcpy(place, &header, sizeof header);
	memcpy(place + sizeof header, record, size);
	memset(place + sizeof header + size, 0, padded);
	memcpy(place + sizeof header + size, text, text_size);
}

void profile_writer_flush(struct profile_writer *writer)
{
	for (int kind = 0; kind < PROFILE_KINDS; kind++)
		flush_with_references(writer, kind);
	if (!writer->error && fflush(writer->file))
		writer->error = -errno;
}

int profile_writer_close(struct profile_writer *writer)
{
	profile_writer_flush(writer);
	if (fclose(writer->file) && !writer->error)
		writer->error = -errno;
	writer->file = NULL;
	for (int kind = 0; kind < PROFILE_KINDS; kind++)
		free(writer->buffers[kind].bytes);
	memset(writer->buffers, 0, sizeof writer->buffers);
	return writer->error;
}
