/* SPDX-License-Identifier: MIT */
/*
 * A command line as words: blanks part them, "..." and '...' keep them together, a backslash takes the next character as
 * it is (in '...' too it is just a backslash). No variables, no globs: for those a unit says `exec /bin/sh -c "..."`.
 */
#ifndef BOOTLAB_INIT_WORDS_H
#define BOOTLAB_INIT_WORDS_H

#include "shared/arena.h"
#include "shared/text.h"

/* The number of words, put into `ret`; -EINVAL for an open quote, -E2BIG for too many, -ENOMEM. */
int words_parse(struct arena *arena, struct slice text, const char **ret, size_t max);

/* What is wrong, for a message. */
const char *words_error(int r);

#endif
