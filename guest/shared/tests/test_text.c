/* SPDX-License-Identifier: MIT */
/* Tests how pieces of text are read: durations, numbers, lines. */
#include "shared/text.h"

#include <errno.h>
#include <string.h>

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
	CHECK(!parse_number(slice_of("9223372036854775807"), 0, INT64_MAX, &number) && number == INT64_MAX);
	CHECK(!parse_number(slice_of("-9223372036854775807"), INT64_MIN, 0, &number) && number == -INT64_MAX);
	CHECK(parse_number(slice_of("9223372036854775808"), 0, INT64_MAX, &number) == -EINVAL);
	CHECK(parse_number(slice_of("99999999999999999999999999"), 0, INT64_MAX, &number) == -EINVAL);
	CHECK(parse_number(slice_of("12x"), 0, 99, &number) == -EINVAL);
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
	test_lines();
	puts("test_text: ok");
	return 0;
}
