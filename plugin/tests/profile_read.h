/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile file back in memory, for tests: the chunks of one kind, names, paths of nodes, sums of weights. */
#ifndef BOOTLAB_TESTS_PROFILE_READ_H
#define BOOTLAB_TESTS_PROFILE_READ_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "profile_format.h"

enum { PROFILE_FILE_MAX = 1 << 22 };

static char profile_path[] = "/tmp/bootlab-profile-XXXXXX";
static uint8_t profile_bytes[PROFILE_FILE_MAX];
static size_t profile_size;

static inline void profile_path_make(void)
{
	int fd = mkstemp(profile_path);

	CHECK(fd >= 0);
	close(fd);
}

static inline void profile_load(void)
{
	FILE *file = fopen(profile_path, "r");

	CHECK(file);
	profile_size = fread(profile_bytes, 1, sizeof profile_bytes, file);
	fclose(file);
	CHECK(profile_size >= 16 && profile_size < sizeof profile_bytes && !memcmp(profile_bytes, PROFILE_MAGIC, 16));
}

/* The next chunk of `kind` behind `*at`, which begins as 0; NULL: there is none. Every header on the way must be sound. */
static inline const void *profile_next(uint32_t kind, size_t *at, size_t *ret_size)
{
	size_t place = *at ? *at : 16;

	while (place < profile_size) {
		struct profile_chunk_header header;
		const uint8_t *body = profile_bytes + place + sizeof header;

		CHECK(place + sizeof header <= profile_size);
		memcpy(&header, profile_bytes + place, sizeof header);
		CHECK(header.kind >= PROFILE_NAME && header.kind < PROFILE_KINDS && header.size % 8 == 0);
		place += sizeof header + header.size;
		CHECK(place <= profile_size);
		*at = place;
		if (header.kind == kind) {
			*ret_size = header.size;
			return body;
		}
	}
	return NULL;
}

/* Record number `index` of a kind that comes in arrays, copied to `ret`; false: there are not that many. */
static inline bool profile_record(uint32_t kind, size_t index, size_t record_size, void *ret)
{
	size_t at = 0, size;
	const uint8_t *body;

	while ((body = profile_next(kind, &at, &size))) {
		CHECK(size % record_size == 0);
		if (index < size / record_size) {
			memcpy(ret, body + index * record_size, record_size);
			return true;
		}
		index -= size / record_size;
	}
	return false;
}

/* Chunk number `index` of a kind with a text behind its record. */
static inline bool profile_text_record(uint32_t kind, size_t index, size_t record_size, void *ret, char *text, size_t text_size)
{
	size_t at = 0, size;
	const uint8_t *body;

	while ((body = profile_next(kind, &at, &size))) {
		if (index--)
			continue;
		CHECK(size >= record_size && size - record_size < text_size);
		memcpy(ret, body, record_size);
		memcpy(text, body + record_size, size - record_size);
		text[size - record_size] = '\0';
		return true;
	}
	return false;
}

static inline void profile_function_name(uint32_t function, const char *const *lines, uint32_t n_lines, char *ret, size_t size)
{
	struct profile_name name;
	char text[512];

	if (function < n_lines) {
		snprintf(ret, size, "%s", lines[function]);
		return;
	}
	for (size_t i = 0; profile_text_record(PROFILE_NAME, i, sizeof name, &name, text, sizeof text); i++)
		if (name.function == function) {
			snprintf(ret, size, "%.*s", (int)name.text_size, text);
			return;
		}
	CHECK(!"the function has a name");
}

/* `a;b;c`, without the root. */
static inline void profile_node_path(uint32_t node, const char *const *lines, uint32_t n_lines, char *ret, size_t size)
{
	struct profile_node record;
	char name[256], path[2048] = "", longer[2048 + 260];

	while (node) {
		CHECK(profile_record(PROFILE_NODE, node, sizeof record, &record));
		CHECK(record.parent < node);
		profile_function_name(record.function, lines, n_lines, name, sizeof name);
		snprintf(longer, sizeof longer, "%s%s%s", name, path[0] ? ";" : "", path);
		snprintf(path, sizeof path, "%.2047s", longer);
		node = record.parent;
	}
	snprintf(ret, size, "%s", path);
}

/* Sum over all slices of what was spent in the node of `path` itself, and how often it was entered. */
static inline uint64_t profile_spent(const char *path, const char *const *lines, uint32_t n_lines, uint64_t *calls)
{
	struct profile_weight weight;
	uint64_t sum = 0;
	char found[2048];

	*calls = 0;
	for (size_t i = 0; profile_record(PROFILE_WEIGHT, i, sizeof weight, &weight); i++) {
		profile_node_path(weight.node, lines, n_lines, found, sizeof found);
		if (strcmp(found, path))
			continue;
		sum += weight.instructions;
		*calls += weight.calls;
	}
	return sum;
}

#endif
