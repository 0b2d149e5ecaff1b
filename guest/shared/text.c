/* SPDX-License-Identifier: MIT */
/* Takes lines, words, numbers and durations out of a text without copying it. */
#include "text.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "clock.h"

enum { MAX_SECONDS = 1000000, FRACTION_DIGITS = 9 };

struct lines lines_of(const char *text, size_t size)
{
	return (struct lines){ .at = text, .end = text + size };
}

bool line_next(struct lines *lines, struct slice *line)
{
	size_t left = (size_t)(lines->end - lines->at);
	const char *feed;

	if (left == 0)
		return false;
	feed = memchr(lines->at, '\n', left);
	*line = (struct slice){ lines->at, feed ? (size_t)(feed - lines->at) : left };
	lines->at = feed ? feed + 1 : lines->end;
	lines->number++;
	if (line->size > 0 && line->at[line->size - 1] == '\r')
		line->size--;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool word_next(struct slice *rest, struct slice *word)
{
	size_t begin = 0, end;

	while (begin < rest->size && is_blank(rest->at[begin]))
		begin++;
	for (end = begin; end < rest->size && !is_blank(rest->at[end]);)
		end++;
	*word = (struct slice){ rest->at + begin, end - begin };
	*rest = slice_from(*rest, end);
	return word->size > 0;
}

struct slice slice_trim(struct slice text)
{
	while (text.size > 0 && is_blank(text.at[0]))
		text = slice_from(text, 1);
	while (text.size > 0 && is_blank(text.at[text.size - 1]))
		text.size--;
	return text;
}

struct slice slice_of(const char *text)
{
	return (struct slice){ text, strlen(text) };
}

bool slice_is(struct slice text, const char *wanted)
{
	return strlen(wanted) == text.size && !memcmp(text.at, wanted, text.size);
}

bool slice_is_caseless(struct slice text, const char *wanted)
{
	return strlen(wanted) == text.size && !strncasecmp(text.at, wanted, text.size);
}

bool slice_starts(struct slice text, const char *prefix)
{
	size_t size = strlen(prefix);

	return text.size >= size && !memcmp(text.at, prefix, size);
}

bool slice_ends(struct slice text, const char *suffix)
{
	size_t size = strlen(suffix);

	return text.size >= size && !memcmp(text.at + text.size - size, suffix, size);
}

struct slice slice_from(struct slice text, size_t begin)
{
	return (struct slice){ text.at + begin, text.size - begin };
}

int parse_number(struct slice text, int64_t least, int64_t most, int64_t *ret)
{
	bool negative = text.size > 0 && text.at[0] == '-';
	int64_t value = 0;

	if (negative)
		text = slice_from(text, 1);
	if (text.size == 0)
		return -EINVAL;
	for (size_t i = 0; i < text.size; i++) {
		if (text.at[i] < '0' || text.at[i] > '9')
			return -EINVAL;
		if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text.at[i] - '0', &value))
			return -EINVAL;
	}
	value = negative ? -value : value;
	if (value < least || value > most)
		return -EINVAL;
	*ret = value;
	return 0;
}

static int unit_of(struct slice name, int64_t *ret_ns)
{
	static const struct {
		const char *name;
		int64_t ns;
	} UNITS[] = {
		{ "", 1000 * NS_PER_MS },	 { "s", 1000 * NS_PER_MS },  { "sec", 1000 * NS_PER_MS },
		{ "ms", NS_PER_MS },		 { "msec", NS_PER_MS },	     { "us", NS_PER_MS / 1000 },
		{ "m", 60 * 1000 * NS_PER_MS },	 { "min", 60 * 1000 * NS_PER_MS },
		{ "h", 3600 * 1000 * NS_PER_MS },
	};

	for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++)
		if (slice_is(name, UNITS[i].name)) {
			*ret_ns = UNITS[i].ns;
			return 0;
		}
	return -EINVAL;
}

/* One part such as `1.5s`, taken off the front. */
static int parse_part(struct slice *rest, int64_t *ret_ns)
{
	struct slice digits = { rest->at, 0 }, fraction, name;
	int64_t whole, unit_ns, part_ns;

	while (digits.size < rest->size && rest->at[digits.size] >= '0' && rest->at[digits.size] <= '9')
		digits.size++;
	*rest = slice_from(*rest, digits.size);
	fraction = (struct slice){ rest->at, 0 };
	if (rest->size > 0 && rest->at[0] == '.') {
		*rest = slice_from(*rest, 1);
		fraction.at = rest->at;
		while (fraction.size < rest->size && rest->at[fraction.size] >= '0' && rest->at[fraction.size] <= '9')
			fraction.size++;
		*rest = slice_from(*rest, fraction.size);
	}
	name = (struct slice){ rest->at, 0 };
	while (name.size < rest->size && rest->at[name.size] >= 'a' && rest->at[name.size] <= 'z')
		name.size++;
	*rest = slice_trim(slice_from(*rest, name.size));
	if (parse_number(digits, 0, MAX_SECONDS, &whole) || fraction.size > FRACTION_DIGITS || unit_of(name, &unit_ns))
		return -EINVAL;
	*ret_ns = whole * unit_ns;
	part_ns = unit_ns;
	for (size_t i = 0; i < fraction.size; i++) {
		part_ns /= 10;
		*ret_ns += (fraction.at[i] - '0') * part_ns;
	}
	return 0;
}

int parse_duration(struct slice text, int64_t *ret_ns)
{
	struct slice rest = slice_trim(text);
	int64_t sum_ns = 0, part_ns;

	if (slice_is(rest, "infinity")) {
		*ret_ns = 0;
		return 0;
	}
	if (rest.size == 0)
		return -EINVAL;
	while (rest.size > 0) {
		if (parse_part(&rest, &part_ns) || sum_ns > MAX_SECONDS * 1000 * NS_PER_MS)
			return -EINVAL;
		sum_ns += part_ns;
	}
	*ret_ns = sum_ns;
	return 0;
}

int parse_bool(struct slice text, bool *ret)
{
	static const char *const WORDS[] = { "no", "false", "off", "0", "yes", "true", "on", "1" };

	for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
		if (slice_is(text, WORDS[i])) {
			*ret = i >= 4;
			return 0;
		}
	return -EINVAL;
}
