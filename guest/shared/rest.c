/* SPDX-License-Identifier: MIT */
/* From the first line of /proc/stat, which sums up all processors, twice half a second apart. */
#include "rest.h"

#include <stdio.h>
#include <time.h>

#include "files.h"

enum { LOOK_NS = 500000000, LOOKS_A_SECOND = 2, TENTHS = 9, TEXT_BYTES = 512 };

bool rest_ticks(const char *text, unsigned long long *ret_idle, unsigned long long *ret_all)
{
	unsigned long long user, nice, system, idle, disk, interrupts, soft;

	if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &disk, &interrupts, &soft) != 7)
		return false;
	*ret_idle = idle;
	*ret_all = user + nice + system + idle + disk + interrupts + soft;
	return true;
}

static bool ticks_now(unsigned long long *idle, unsigned long long *all)
{
	char text[TEXT_BYTES];
	ssize_t n = file_read("/proc/stat", text, sizeof text - 1);

	text[n > 0 ? n : 0] = 0;
	return rest_ticks(text, idle, all);
}

bool rest_await(unsigned most_s)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	unsigned long long idle, all, idle_after, all_after;

	for (unsigned i = 0; i < most_s * LOOKS_A_SECOND; i++) {
		if (!ticks_now(&idle, &all))
			return false;
		nanosleep(&pause, NULL);
		if (ticks_now(&idle_after, &all_after) && all_after > all &&
		    (idle_after - idle) * 10 >= (all_after - all) * TENTHS)
			return true;
	}
	return false;
}
