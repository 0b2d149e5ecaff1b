/* SPDX-License-Identifier: MIT */
/* Holds print() against the C library's snprintf(), format by format, for every size of the buffer. */
#include "shared/print.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

enum { ROOM = 64 };

/* The same text, the same size, and nothing written behind it, however little room there is. */
#define SAME(...)                                                                                \
	do {                                                                                     \
		for (size_t room = 0; room <= ROOM; room++) {                                    \
			char own[ROOM + 1], theirs[ROOM + 1];                                    \
                                                                                                 \
			memset(own, '~', sizeof own);                                            \
			memset(theirs, '~', sizeof theirs);                                      \
			CHECK(print(own, room, __VA_ARGS__) == snprintf(theirs, room, __VA_ARGS__)); \
			CHECK(!memcmp(own, theirs, sizeof own));                                 \
		}                                                                                \
	} while (0)

static void test_texts(void)
{
	static const char UNENDED[3] = { 'a', 'b', 'c' };

	SAME("nothing to fill in, 100 %% of it");
	SAME("%s", "");
	SAME("%s:%s", "a text", "another");
	SAME("%-12s|", "left");
	SAME("%12s|", "right");
	SAME("%-*s|", 24, "of a given width");
	SAME("%*s|", 3, "wider than that");
	SAME("%.*s|", 3, UNENDED);
	SAME("%.*s|", 0, UNENDED);
	SAME("%-*.*s|", 8, 2, "cut and filled");
	SAME("%c%c", 'o', 'k');
}

static void test_numbers(void)
{
	static const long long NUMBERS[] = { 0, 1, -1, 9, 10, -10, 4095, INT_MAX, INT_MIN, LLONG_MAX, LLONG_MIN };

	for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++) {
		SAME("%d|%5d|%-5d|%05d", (int)NUMBERS[i], (int)NUMBERS[i], (int)NUMBERS[i], (int)NUMBERS[i]);
		SAME("%u|%x|%X|%04x", (unsigned)NUMBERS[i], (unsigned)NUMBERS[i], (unsigned)NUMBERS[i], (unsigned)NUMBERS[i]);
		SAME("%lld|%7lld|%03lld", NUMBERS[i], NUMBERS[i], NUMBERS[i]);
		SAME("[%5lld.%06lld] ", NUMBERS[i], NUMBERS[i]);
		SAME("%ld %lu %zu", (long)NUMBERS[i], (unsigned long)NUMBERS[i], (size_t)NUMBERS[i]);
		SAME("%llu", (unsigned long long)NUMBERS[i]);
	}
	SAME("%p", (void *)(uintptr_t)0xdeadbeef);
}

int main(void)
{
	test_texts();
	test_numbers();
	puts("test_print: ok");
	return EXIT_SUCCESS;
}
