/* SPDX-License-Identifier: MIT */
/* Nanoseconds since the kernel started, asleep or awake. */
#ifndef BOOTLAB_SHARED_CLOCK_H
#define BOOTLAB_SHARED_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)

static inline int64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

#endif
