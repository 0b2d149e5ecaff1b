/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of a screen between two looks, kept in a file for a process that goes on from there: the same build of this
 * plugin with the same config, so that its structs are written as they lie in memory. No QEMU headers.
 */
#ifndef BOOTLAB_SCREEN_STATE_H
#define BOOTLAB_SCREEN_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "frame.h"
#include "watch.h"

/* What goes on beside the watch. */
struct screen_counts {
	int64_t film_ns; /* when a frame of the film is due next */
	bool film_waits; /* the frame has changed since one was kept */
	unsigned film_frames; /* that were kept */
	uint64_t lost;
	uint64_t disk_requests;
	struct disk_count reads[COUNTED_DISKS_MAX];
};

/* `latest`: what the last look saw. 0 or -errno. */
int screen_state_write(FILE *file, const struct watch *watch, const struct frame *latest, const struct screen_counts *counts);

/* The same into a watch of the same config, newly opened. 0, or -EINVAL for a file that is none of it, or -ENOMEM. */
int screen_state_read(FILE *file, struct watch *watch, struct frame *latest, struct screen_counts *counts);

#endif
