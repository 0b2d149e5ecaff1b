/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares pictures, counts their colours, and hashes them. */
#include "frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t HASH_PRIME = UINT64_C(0x100000001b3);

int frame_resize(struct frame *frame, uint32_t width, uint32_t height)
{
	size_t wanted = (size_t)width * height;

	/* As bytes it would be less than it is. */
	if (wanted > SIZE_MAX / sizeof *frame->pixels)
		return -ENOMEM;
	if (wanted > frame->capacity) {
		uint32_t *pixels = realloc(frame->pixels, wanted * sizeof *pixels);

		if (!pixels)
			return -ENOMEM;
		frame->pixels = pixels;
		frame->capacity = wanted;
	}
	frame->width = width;
	frame->height = height;
	return 0;
}

void frame_deinit(struct frame *frame)
{
	free(frame->pixels);
	*frame = (struct frame){ .width = 0 };
}

static struct screen_region whole(const struct frame *frame, const struct screen_region *region)
{
	return region->width ? *region : (struct screen_region){ 0, 0, frame->width, frame->height };
}

bool frame_holds(const struct frame *frame, const struct screen_region *region)
{
	/* Each is below 2**31 (config/screen_lines.c). */
	return frame->width && region->x + region->width <= frame->width && region->y + region->height <= frame->height;
}

static const uint32_t *row_of(const struct frame *frame, uint32_t x, uint32_t y)
{
	return frame->pixels + (size_t)y * frame->width + x;
}

bool frame_same(const struct frame *frame, const struct frame *other, const struct screen_region *region)
{
	struct screen_region at = whole(frame, region);

	if (!region->width && (frame->width != other->width || frame->height != other->height))
		return false;
	if (!frame_holds(frame, &at) || !frame_holds(other, &at))
		return false;
	for (uint32_t y = at.y; y < at.y + at.height; y++)
		if (memcmp(row_of(frame, at.x, y), row_of(other, at.x, y), at.width * sizeof(uint32_t)))
			return false;
	return true;
}

bool frame_shows(const struct frame *frame, const struct screen_region *region, const uint32_t *pixels)
{
	struct screen_region at = whole(frame, region);

	for (uint32_t y = 0; y < at.height; y++)
		if (memcmp(row_of(frame, at.x, at.y + y), pixels + (size_t)y * at.width, at.width * sizeof *pixels))
			return false;
	return true;
}

bool frame_has_colours(const struct frame *frame, const struct screen_region *region, unsigned count)
{
	struct screen_region at = whole(frame, region);
	uint32_t seen[SCREEN_COLOURS_MAX], latest = 0;
	unsigned found = 0;

	for (uint32_t y = at.y; y < at.y + at.height; y++) {
		const uint32_t *row = row_of(frame, at.x, y);

		for (uint32_t x = 0; x < at.width && found < count; x++) {
			unsigned i = 0;

			if (found && row[x] == latest)
				continue;
			latest = row[x];
			while (i < found && seen[i] != latest)
				i++;
			if (i == found)
				seen[found++] = latest;
		}
	}
	return found >= count;
}

uint64_t frame_hash(const struct frame *frame, uint64_t hash)
{
	hash = (hash ^ frame->width) * HASH_PRIME;
	hash = (hash ^ frame->height) * HASH_PRIME;
	for (size_t i = 0; i < (size_t)frame->width * frame->height; i++)
		hash = (hash ^ frame->pixels[i]) * HASH_PRIME;
	return hash;
}
