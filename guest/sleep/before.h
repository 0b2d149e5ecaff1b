/* SPDX-License-Identifier: MIT */
/*
 * What files in /etc/bootlab/sleep.d have done before the machine sleeps: settings of the kernel, and devices that are woken late.
 * One that is late has its driver taken off, so that the waking does not wait for it, and bound again once the machine is idle.
 *
 *   write PATTERN VALUE              write the value to each file of the kernel that the shell's pattern matches
 *   late PATTERN [class PREFIX]      each device folder of sysfs that it matches, and whose file `class` begins so
 *   keep caches                      leave the page cache in an image of the memory
 *
 * Blank lines and those that begin with # are passed over.
 */
#ifndef BOOTLAB_SLEEP_BEFORE_H
#define BOOTLAB_SLEEP_BEFORE_H

#include <stdbool.h>
#include <stddef.h>

enum { LATE_MAX = 16, LATE_NAME = 64, LATE_PATH = 512 };

struct late {
	char name[LATE_NAME], file[LATE_NAME]; /* of the device, and of the file that names it */
	char driver[LATE_PATH]; /* the driver's folder */
};

struct lates {
	struct late list[LATE_MAX];
	size_t n;
};

/*
 * Does what the files say, and says what became of it: one line with a fact for each file, and one for each device that cannot be
 * late and keeps its driver. `root`: "", or a folder that stands for /, without a slash at its end. Returns whether a line has the
 * caches kept.
 */
bool before_sleep(const char *root, struct lates *ret);

/* Binds them again. A device that does not come back fails the system's check. */
void bind_again(const struct lates *lates);

/* The same, from a process of its own, once nine tenths of half a second were idle; it looks for a minute. */
void bind_when_idle(const struct lates *lates);

#endif
