/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests what is the same in two pictures, which pixels a region has, how many colours, and the hash. */
#include "screen/frame.h"

#include <string.h>

#include "check.h"

static const struct screen_region all, corner = { 2, 1, 2, 1 }, outside = { 2, 1, 3, 1 };

static void fill(struct frame *frame, uint32_t width, uint32_t height)
{
	CHECK(frame_resize(frame, width, height) == 0);
	for (uint32_t i = 0; i < width * height; i++)
		frame->pixels[i] = i;
}

int main(void)
{
	struct frame a = { .width = 0 }, b = { .width = 0 };
	const uint32_t shown[] = { 6, 7 }, other[] = { 6, 8 };
	uint64_t hash;

	/* Two screens without a picture are the same one; a region is in none of them. */
	CHECK(!frame_holds(&a, &all) && !frame_same(&a, &b, &corner));
	fill(&a, 4, 2);
	CHECK(!frame_same(&a, &b, &all));
	fill(&b, 4, 2);
	CHECK(frame_same(&a, &b, &all) && frame_same(&a, &b, &corner) && !frame_same(&a, &b, &outside));
	CHECK(frame_holds(&a, &corner) && !frame_holds(&a, &outside) && frame_holds(&a, &all));
	hash = frame_hash(&a, FRAME_HASH_START);
	CHECK(hash == frame_hash(&b, FRAME_HASH_START));
	b.pixels[5] = 99; /* beside the corner */
	CHECK(!frame_same(&a, &b, &all) && frame_same(&a, &b, &corner));
	CHECK(hash != frame_hash(&b, FRAME_HASH_START));
	b.pixels[7] = 99;
	CHECK(!frame_same(&a, &b, &corner));
	CHECK(frame_shows(&a, &corner, shown) && !frame_shows(&a, &corner, other));
	CHECK(frame_has_colours(&a, &corner, 2) && !frame_has_colours(&a, &corner, 3));
	CHECK(frame_has_colours(&a, &all, 8) && !frame_has_colours(&a, &all, 9));
	memset(a.pixels, 0, 8 * sizeof *a.pixels);
	CHECK(frame_has_colours(&a, &all, 1) && !frame_has_colours(&a, &all, 2));
	/* The same pixels in another shape are another picture. */
	fill(&a, 2, 4);
	fill(&b, 4, 2);
	CHECK(!frame_same(&a, &b, &all) && frame_hash(&a, FRAME_HASH_START) != frame_hash(&b, FRAME_HASH_START));
	frame_deinit(&a);
	frame_deinit(&b);
	puts("test_frame: ok");
	return 0;
}
