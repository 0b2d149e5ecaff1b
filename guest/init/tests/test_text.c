/* SPDX-License-Identifier: MIT */
#include "../text.h"

#include <errno.h>

#include "../words.h"
#include "check.h"

static int64_t duration(const char *text)
{
	int64_t ns = -1;

	return parse_duration(slice_of(text), &ns) ? -1 : ns;
}

static void test_durations(void)
{
	CHECK(duration("5") == 5000000000);
	CHECK(duration("1.5s") == 1500000000);
	CHECK(duration("500ms") == 500000000);
	CHECK(duration("1min 30s") == 90000000000);
	CHECK(duration("0.000000001s") == 1);
	CHECK(duration("infinity") == 0);
	CHECK(duration("") == -1);
	CHECK(duration("s") == -1);
	CHECK(duration("5 parsecs") == -1);
	CHECK(duration("-5") == -1);
	CHECK(duration("99999999999999999999") == -1);
	CHECK(duration("1.0000000000s") == -1);
}

static void test_numbers(void)
{
	int64_t number;

	CHECK(!parse_number(slice_of("-20"), -20, 19, &number) && number == -20);
	CHECK(parse_number(slice_of("20"), -20, 19, &number) == -EINVAL);
	CHECK(parse_number(slice_of(""), 0, 9, &number) == -EINVAL);
	CHECK(parse_number(slice_of("-"), 0, 9, &number) == -EINVAL);
	CHECK(parse_number(slice_of("9999999999999999999"), 0, INT64_MAX, &number) == -EINVAL);
	CHECK(parse_number(slice_of("12x"), 0, 99, &number) == -EINVAL);
}

static int split(const char *text, const char **ret)
{
	return words_parse(&units.arena, slice_of(text), ret, 4);
}

static void test_words(void)
{
	const char *words[4];

	begin();
	CHECK(split("/bin/a -b  \"c d\"e 'f \\'", words) == 4);
	CHECK(!strcmp(words[0], "/bin/a") && !strcmp(words[2], "c de") && !strcmp(words[3], "f \\"));
	CHECK(split("a\\ b \"\\\"\"", words) == 2);
	CHECK(!strcmp(words[0], "a b") && !strcmp(words[1], "\""));
	CHECK(split("''", words) == 1 && !words[0][0]);
	CHECK(split("  ", words) == 0);
	CHECK(split("\"open", words) == -EINVAL);
	CHECK(split("end\\", words) == -EINVAL);
	CHECK(split("1 2 3 4 5", words) == -E2BIG);
	units.arena.used = units.arena.size;
	CHECK(split("a", words) == -ENOMEM);
}

static void test_lines(void)
{
	struct lines lines = lines_of("a\r\n\nlast", 8);
	struct slice line;

	CHECK(line_next(&lines, &line) && slice_is(line, "a"));
	CHECK(line_next(&lines, &line) && line.size == 0 && lines.number == 2);
	CHECK(line_next(&lines, &line) && slice_is(line, "last"));
	CHECK(!line_next(&lines, &line));
}

int main(void)
{
	test_durations();
	test_numbers();
	test_words();
	test_lines();
	puts("test_text: ok");
	return 0;
}
