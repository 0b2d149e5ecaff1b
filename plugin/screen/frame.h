/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A picture on the screen: its pixels, what of it is as it was, how many colours it has. No QEMU headers. */
#ifndef BOOTLAB_FRAME_H
#define BOOTLAB_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "config/config.h"

struct frame {
	uint32_t width, height;
	uint32_t *pixels; /* 0x00RRGGBB, row by row */
	size_t capacity; /* pixels that there is room for */
};

/* Make room for a picture of this size; its pixels are the caller's to fill. 0 or -ENOMEM. */
int frame_resize(struct frame *frame, uint32_t width, uint32_t height);
void frame_deinit(struct frame *frame);

/* Whether the region is in the frame; all of it if the region has no width. */
bool frame_holds(const struct frame *frame, const struct screen_region *region);

/* Whether both have the region, and the same pixels in it. */
bool frame_same(const struct frame *frame, const struct frame *other, const struct screen_region *region);

/* Whether the region has exactly these pixels, row by row; only where frame_holds() it. */
bool frame_shows(const struct frame *frame, const struct screen_region *region, const uint32_t *pixels);

/* Whether the region has at least so many different colours, of at most SCREEN_COLOURS_MAX. */
bool frame_has_colours(const struct frame *frame, const struct screen_region *region, unsigned count);

/* `hash`, continued with the frame's size and pixels (FNV-1a, of 64 bits, by words of 32). */
uint64_t frame_hash(const struct frame *frame, uint64_t hash);

#define FRAME_HASH_START UINT64_C(0xcbf29ce484222325)

#endif
