/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the picture on the guest's first screen. No QEMU headers.
 *
 * QEMU draws a picture when somebody wants to see it: from the guest's video memory, into a surface of its own. Nobody does
 * where there is no display, so it is asked to here. The guest cannot tell: its memory is read, and no clock moves.
 */
#ifndef BOOTLAB_DISPLAY_H
#define BOOTLAB_DISPLAY_H

#include <stddef.h>
#include <stdint.h>

#include "lock.h"

struct display {
	void *console;
	size_t image_at; /* where in QEMU's surface its image is, found by trying */
	void (*update)(void *console);
	void *(*surface)(void *console);
	void *(*image_new)(int format, int width, int height, uint32_t *bits, int stride);
	int (*image_unref)(void *image);
	int (*width)(void *image);
	int (*height)(void *image);
	void (*compose)(int operation, void *source, void *mask, void *target, int16_t source_x, int16_t source_y, int16_t mask_x,
			int16_t mask_y, int16_t target_x, int16_t target_y, uint16_t width, uint16_t height);
};

/*
 * Find QEMU's functions and pixman's, and prove that a picture of ours is read as it was made. From where the guest runs.
 * 0, or -ENOTSUP with one line in `message`.
 */
int display_open(char *message, size_t message_size, struct display *ret);

/*
 * Holding QEMU's lock: bring the picture up to date and return its size; 0 times 0 for none. A screen changes its size as the
 * guest sets a mode.
 */
void display_update(const struct display *display, uint32_t *ret_width, uint32_t *ret_height);

/* Holding QEMU's lock: copy the picture, of the size that display_update() said, as 0x00RRGGBB row by row. */
void display_copy(const struct display *display, uint32_t width, uint32_t height, uint32_t *ret);

#endif
