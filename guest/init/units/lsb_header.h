/* SPDX-License-Identifier: MIT */
/*
 * The INIT INFO block of an init script: LSB 4.1, section 20.3, as insserv(8) 1.24 reads it. Keywords in any case, one `#`
 * and blanks before them, blanks at line ends; a comment line that begins with two blanks or a tab goes on with the
 * Description alone.
 */
#ifndef BOOTLAB_INIT_LSB_HEADER_H
#define BOOTLAB_INIT_LSB_HEADER_H

#include <stdbool.h>

#include "shared/text.h"

enum lsb_keyword {
	LSB_PROVIDES,
	LSB_REQUIRED_START,
	LSB_REQUIRED_STOP,
	LSB_SHOULD_START,
	LSB_SHOULD_STOP,
	LSB_START_BEFORE,
	LSB_STOP_AFTER,
	LSB_START_AFTER,
	LSB_DEFAULT_START,
	LSB_DEFAULT_STOP,
	LSB_INTERACTIVE,
	LSB_KEYWORDS
};

struct lsb_header {
	bool found;	/* a block begins */
	bool closed;	/* and ends */
	unsigned line;	/* where it begins */
	struct slice value[LSB_KEYWORDS]; /* pieces of the text; at == NULL where the keyword is not given */
	unsigned lines[LSB_KEYWORDS];
	unsigned unknown_line; /* of the first keyword that nobody knows, or 0 */
	struct slice unknown;
};

/* The first block of `text`; `ret->found` is false when there is none. */
void lsb_header_parse(const char *text, size_t size, struct lsb_header *ret);

#endif
