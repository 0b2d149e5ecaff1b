/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line of the config while it is read: its words, and what is wrong with them. Returns are 0 or -errno. */
#ifndef BOOTLAB_CONFIG_LINE_H
#define BOOTLAB_CONFIG_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "config.h"

enum { WORDS_MAX = 8 };

struct line {
	const char *path;
	unsigned number;
	size_t n_words;
	char *words[WORDS_MAX];
	const char *whole; /* the line as it was, for a last word that may hold spaces */
	char *message;
	size_t message_size;
};

/* Says "path:line: what" in the line's message; returns -EINVAL. */
__attribute__((format(printf, 2, 3))) int line_complain(struct line *line, const char *format, ...);

/* `word` as a name, an address, a decimal number. */
int line_read_name(struct line *line, const char *word, char *ret);
int line_read_address(struct line *line, const char *word, uint64_t *ret);
int line_read_decimal(struct line *line, const char *word, uint64_t *ret);
/* `word` as code: two hexadecimal digits a byte, `??` for any. */
int line_read_code(struct line *line, const char *word, struct code *ret);
/* All behind the first `words` words, blanks included, to be freed. */
int line_read_rest(struct line *line, unsigned words, char **ret);

/* Append a copy of `element` to the `count` of `size` bytes each at `*array`, a pointer of any type. */
int line_append(struct line *line, void *array, size_t *count, const void *element, size_t size);

#endif
