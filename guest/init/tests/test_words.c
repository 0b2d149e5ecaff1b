/* SPDX-License-Identifier: MIT */
/* Tests how a command line is parted into words. */
#include "units/words.h"

#include <errno.h>

#include "check.h"

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

int main(void)
{
	test_words();
	puts("test_words: ok");
	return 0;
}
