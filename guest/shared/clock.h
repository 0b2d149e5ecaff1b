/* SPDX-License-Identifier: MIT */
/*
 * Nanoseconds since the kernel started: all of them for what is told to people, and those awake for deadlines, since a unit
 * whose machine was asleep has not used up its time.
 */
#ifndef BOOTLAB_SHARED_CLOCK_H
#define BOOTLAB_SHARED_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)

static inline int64_t clock_read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static inline int64_t clock_now_ns(void)
{
	return clock_read_ns(CLOCK_BOOTTIME);
}

static inline int64_t clock_awake_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

#endif
