/* SPDX-License-Identifier: MIT */
/*
 * How hard the machine works, from the first line of /proc/stat: whether its processors have time left, and whether they
 * have it because disks are waited for. And what follows from it: how many units may be starting at once.
 */
#ifndef BOOTLAB_INIT_PRESSURE_H
#define BOOTLAB_INIT_PRESSURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pressure {
	PRESSURE_UNKNOWN, /* nothing to compare with yet, or no /proc */
	PRESSURE_NONE,	  /* half of the processors' time, or more, is unused */
	PRESSURE_DISK,	  /* and most of that is spent waiting for disks */
	PRESSURE_CPU,
};

/* Of all processors since the kernel started, in clock ticks. */
struct processor_time {
	int64_t total, idle, disk;
};

/* Between two looks at the machine: a clock tick may be longer, and then the next look is the one that counts. */
enum { PRESSURE_SAMPLE_MS = 20 };

/* False when `text` does not begin with the line of all processors. */
bool pressure_parse(const char *text, size_t size, struct processor_time *ret);

enum pressure pressure_between(const struct processor_time *before, const struct processor_time *after);

/* Over the last sample: 20 ms or more, and not so long that it tells of another time. */
enum pressure pressure_now(int64_t now_ns);

/* Places for units that are starting. Of `fixed` so many, always; 0: by the pressure, see places_after(). */
void places_init(unsigned processors, unsigned fixed);

/* How many there are; looks at the machine only when all of them are taken. */
unsigned places_now(unsigned taken, int64_t now_ns);

/* Whether another look may find more of them. */
bool places_move(void);

/*
 * Places after a sample in which all were taken: one more for each processor while what starts leaves the processors unused,
 * to eight for each; else a step back to two for each. Waiting for disks leaves them unused, too: most serve many requests
 * at once as fast as one.
 */
unsigned places_after(unsigned places, unsigned processors, enum pressure pressure);

#endif
