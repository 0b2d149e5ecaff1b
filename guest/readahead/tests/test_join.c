/* SPDX-License-Identifier: MIT */
/* Tests which pieces of a file become one, how long, and in whose turn. */
#include "../join.h"

#include <stdlib.h>
#include <string.h>

#include "shared/tests/check.h"

enum { PAGE = 4096, FAR = 1 << 30 };

static struct range at(uint32_t file, int64_t offset, int64_t length)
{
	return (struct range){ file, offset, length, file == PACK_DEVICE ? -1 : FAR + offset };
}

static bool same(struct range one, struct range other)
{
	return one.file == other.file && one.offset == other.offset && one.length == other.length &&
	       one.physical == other.physical;
}

static void test_turns(void)
{
	struct range ranges[] = { at(1, 0, PAGE),        at(2, 0, PAGE),         at(1, 8 * PAGE, PAGE),
				  at(1, 2 * PAGE, PAGE), at(2, 4 * PAGE, PAGE), at(PACK_DEVICE, 0, PAGE) };

	CHECK(ranges_join(ranges, 6) == 4);
	CHECK(same(ranges[0], at(1, 0, 3 * PAGE)));
	CHECK(same(ranges[1], at(2, 0, 5 * PAGE)));
	CHECK(same(ranges[2], at(1, 8 * PAGE, PAGE)));
	CHECK(same(ranges[3], at(PACK_DEVICE, 0, PAGE)));
}

static void test_the_first_turn_counts(void)
{
	struct range ranges[] = { at(1, 4 * PAGE, PAGE), at(2, 0, PAGE), at(1, 0, PAGE) };

	CHECK(ranges_join(ranges, 3) == 2);
	CHECK(same(ranges[0], at(1, 0, 5 * PAGE)));
}

static void test_length(void)
{
	struct range one[40], long_one[] = { at(1, 0, 3 * JOIN_LENGTH), at(1, PAGE, PAGE), at(1, 3 * JOIN_LENGTH, PAGE) };

	for (int i = 0; i < 40; i++)
		one[i] = at(1, (int64_t)i * PAGE, PAGE);
	CHECK(ranges_join(one, 40) == 2);
	CHECK(same(one[0], at(1, 0, JOIN_LENGTH)) && same(one[1], at(1, JOIN_LENGTH, 8 * PAGE)));
	/* What was long stays so, and what lies in it is it. */
	CHECK(ranges_join(long_one, 3) == 2);
	CHECK(same(long_one[0], at(1, 0, 3 * JOIN_LENGTH)) && same(long_one[1], at(1, 3 * JOIN_LENGTH, PAGE)));
}

static void test_places(void)
{
	struct range apart[] = { at(1, 0, PAGE), { 1, PAGE, PAGE, 5 }, { 1, 2 * PAGE, PAGE, -1 } };

	CHECK(ranges_join(apart, 3) == 3);
	CHECK(ranges_join(apart, 0) == 0);
}

static void test_nothing_is_lost(void)
{
	enum { N = 500, PAGES = 600 };
	static struct range ranges[N];
	static bool wanted[3][PAGES];

	srand(7);
	for (int round = 0; round < 200; round++) {
		size_t left;

		memset(wanted, 0, sizeof wanted);
		for (int i = 0; i < N; i++) {
			int file = rand() % 3, page = rand() % (PAGES - 8), n = 1 + rand() % 8;

			ranges[i] = at((uint32_t)file, (int64_t)page * PAGE, (int64_t)n * PAGE);
			for (int j = 0; j < n; j++)
				wanted[file][page + j] = true;
		}
		left = ranges_join(ranges, N);
		CHECK(left <= N);
		for (size_t i = 0; i < left; i++) {
			CHECK(ranges[i].physical == FAR + ranges[i].offset);
			for (int64_t page = ranges[i].offset / PAGE; page < (ranges[i].offset + ranges[i].length) / PAGE; page++)
				wanted[ranges[i].file][page] = false;
		}
		for (int file = 0; file < 3; file++)
			for (int page = 0; page < PAGES; page++)
				CHECK(!wanted[file][page]);
	}
}

int main(void)
{
	test_turns();
	test_the_first_turn_counts();
	test_length();
	test_places();
	test_nothing_is_lost();
	return EXIT_SUCCESS;
}
