/* SPDX-License-Identifier: MIT */
/* Tests what samples of /proc/stat say, and how many units may start at once because of it. */
#include "supervision/pressure.h"

#include "check.h"

static const char STAT[] = "cpu  10 1 20 500 60 3 4 2 9 9\ncpu0 10 1 20 500 60 3 4 2 9 9\nintr 1 2 3\n";

static enum pressure between(int64_t total, int64_t idle, int64_t disk)
{
	const struct processor_time before = { 1000, 500, 100 };

	return pressure_between(&before, &(struct processor_time){ 1000 + total, 500 + idle, 100 + disk });
}

static void test_the_line_of_all_processors(void)
{
	struct processor_time time;

	/* Guests' time, the last two, is in the first two already. */
	CHECK(pressure_parse(STAT, sizeof STAT - 1, &time) && time.total == 600 && time.idle == 500 && time.disk == 60);
	CHECK(pressure_parse("cpu 1 2 3 4", 11, &time) && time.total == 10 && time.idle == 4 && time.disk == 0);
	CHECK(!pressure_parse("cpu0 1 2 3 4", 12, &time) && !pressure_parse("", 0, &time) && !pressure_parse("cpu x", 5, &time));
}

static void test_what_a_sample_says(void)
{
	CHECK(between(0, 0, 0) == PRESSURE_UNKNOWN);
	CHECK(between(100, 49, 0) == PRESSURE_CPU && between(100, 20, 20) == PRESSURE_CPU);
	CHECK(between(100, 50, 0) == PRESSURE_NONE && between(100, 60, 40) == PRESSURE_NONE);
	CHECK(between(100, 30, 30) == PRESSURE_DISK && between(100, 0, 100) == PRESSURE_DISK);
}

static unsigned after(unsigned places, unsigned processors, enum pressure pressure, int samples)
{
	while (samples-- > 0)
		places = places_after(places, processors, pressure);
	return places;
}

static void test_places_follow_the_pressure(void)
{
	CHECK(after(2, 1, PRESSURE_NONE, 1) == 3 && after(2, 1, PRESSURE_NONE, 100) == 8);
	CHECK(after(8, 4, PRESSURE_NONE, 1) == 12 && after(8, 4, PRESSURE_NONE, 100) == 32);
	CHECK(after(2, 1, PRESSURE_DISK, 1) == 3 && after(8, 4, PRESSURE_DISK, 100) == 32);
	CHECK(after(8, 1, PRESSURE_CPU, 2) == 6 && after(8, 1, PRESSURE_CPU, 100) == 2);
	CHECK(after(8, 4, PRESSURE_CPU, 1) == 8 && after(30, 4, PRESSURE_CPU, 1) == 26 && after(30, 4, PRESSURE_CPU, 100) == 8);
	CHECK(after(5, 4, PRESSURE_UNKNOWN, 100) == 5);
}

int main(void)
{
	test_the_line_of_all_processors();
	test_what_a_sample_says();
	test_places_follow_the_pressure();
	puts("test_pressure: ok");
	return 0;
}
