/* SPDX-License-Identifier: MIT */
/* Parts a command line into words, by quotes and backslashes. */
#include "words.h"

#include <errno.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* One word from text.at[*at], unquoted to `out`; the number of bytes, or -EINVAL. */
static int one_word(struct slice text, size_t *at, char *out)
{
	char quote = 0;
	int size = 0;

	for (; *at < text.size && (quote || !is_blank(text.at[*at])); (*at)++) {
		char c = text.at[*at];

		if (quote && c == quote) {
			quote = 0;
		} else if (!quote && (c == '"' || c == '\'')) {
			quote = c;
		} else if (c == '\\' && quote != '\'') {
			if (++*at == text.size)
				return -EINVAL;
			out[size++] = text.at[*at];
		} else {
			out[size++] = c;
		}
	}
	return quote ? -EINVAL : size;
}

int words_parse(struct arena *arena, struct slice text, const char **ret, size_t max)
{
	size_t n = 0, at = 0;

	for (;;) {
		char *word;
		int size;

		while (at < text.size && is_blank(text.at[at]))
			at++;
		if (at == text.size)
			return (int)n;
		if (n == max)
			return -E2BIG;
		/* Unquoting only ever makes it shorter. */
		word = arena_take(arena, text.size - at + 1);
		if (!word)
			return -ENOMEM;
		size = one_word(text, &at, word);
		if (size < 0)
			return size;
		word[size] = '\0';
		/* Each had room for all of the rest: a line of many words would take that many times its size. */
		arena_keep(arena, word, (size_t)size + 1);
		ret[n++] = word;
	}
}

const char *words_error(int r)
{
	switch (r) {
	case -EINVAL:
		return "a quote is not closed, or a backslash ends the line";
	case -E2BIG:
		return "too many words";
	default:
		return "no room for it";
	}
}
