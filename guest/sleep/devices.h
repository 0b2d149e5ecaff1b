/* SPDX-License-Identifier: MIT */
/*
 * How long each device took to wake: the kernel's own trace events of its drivers' callbacks (power:device_pm_callback_start and
 * _end), in an instance of tracefs that is this program's own. Callbacks of several devices run at the same time, so their times
 * are no parts of a sum.
 */
#ifndef BOOTLAB_SLEEP_DEVICES_H
#define BOOTLAB_SLEEP_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/text.h"

enum { WAKES_MAX = 256, DEVICE_NAME = 64, DRIVER_NAME = 40 };

struct wake {
	char device[DEVICE_NAME], driver[DRIVER_NAME];
	uint64_t began_us, us; /* of all its callbacks */
	bool under_way;
};

struct wakes {
	struct wake list[WAKES_MAX];
	size_t n;
	unsigned left_out; /* devices that there was no room for */
	unsigned broken; /* lines of these events that could not be understood */
};

/* Takes a line of a trace: nothing that is not of a device that wakes changes anything. */
void wakes_take(struct wakes *wakes, struct slice line);

/* The longest first. */
void wakes_sort(struct wakes *wakes);

/* Has the kernel note what comes. 0 or -errno: it has no such events, or no tracefs. */
int devices_begin(void);

/* Takes what was noted since, and the instance away. 0 or -errno. `lost`: events that the kernel had no room for. */
int devices_end(struct wakes *ret, uint64_t *lost);

#endif
