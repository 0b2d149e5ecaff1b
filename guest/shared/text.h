/* SPDX-License-Identifier: MIT */
/* Pieces of a text that is not ours to change: lines of a file, words of a line, and the values they stand for. */
#ifndef BOOTLAB_SHARED_TEXT_H
#define BOOTLAB_SHARED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slice {
	const char *at;
	size_t size;
};

struct lines {
	const char *at, *end;
	unsigned number; /* of the line given last, from 1 */
};

struct lines lines_of(const char *text, size_t size);

/* The next line without its line feed (and carriage return); false at the end. */
bool line_next(struct lines *lines, struct slice *line);

/* The next word that blanks and tabs end, taken off the front of `rest`; false when there is none. */
bool word_next(struct slice *rest, struct slice *word);

struct slice slice_trim(struct slice text);
struct slice slice_of(const char *text);
bool slice_is(struct slice text, const char *wanted);
bool slice_is_caseless(struct slice text, const char *wanted);
bool slice_starts(struct slice text, const char *prefix);
bool slice_ends(struct slice text, const char *suffix);
struct slice slice_from(struct slice text, size_t begin);

/* 0, or -EINVAL when it is not a whole number from `least` to `most`. */
int parse_number(struct slice text, int64_t least, int64_t most, int64_t *ret);

/* "500ms", "1.5s", "2min", "infinity" (0: no limit); a bare number is seconds. 0 or -EINVAL. */
int parse_duration(struct slice text, int64_t *ret_ns);

/* yes, true, on, 1; no, false, off, 0. 0 or -EINVAL. */
int parse_bool(struct slice text, bool *ret);

#endif
