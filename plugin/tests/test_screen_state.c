/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests that a screen's state comes back as it was kept, and that a file which is none is refused. */
#include "screen/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static struct screen_mark marks[] = {
	{ .kind = SCREEN_PAINTED, .name = "a" },
	{ .kind = SCREEN_IDLE, .name = "b", .after = "a" },
};
static struct screen_key keys[] = { { .name = "x", .t_ns = 1, .down = true }, { .name = "x", .t_ns = 2 } };
static struct screen_typing typings[] = { { .name = "t", .after = "a", .keys = keys, .n_keys = 2 } };
static const struct config config = {
	.screen_marks = marks, .n_screen_marks = 2, .screen_typings = typings, .n_screen_typings = 1,
};
static const struct config other = { .screen_marks = marks, .n_screen_marks = 1 };

static void open_watch(const struct config *of, struct watch *watch)
{
	char message[256];

	CHECK(watch_open(of, 0, message, sizeof message, watch) == 0);
}

static FILE *kept(void)
{
	static uint32_t pixels[] = { 1, 2, 3, 4, 5, 6 };
	const struct frame frame = { 3, 2, pixels, 6 };
	const struct screen_counts counts = { .film_ns = 7, .film_waits = true, .film_frames = 8, .lost = 9, .disk_requests = 10,
					       .reads = { [2] = { 13, 14 } } };
	struct watch watch;
	FILE *file = tmpfile();

	open_watch(&config, &watch);
	watch.looked = true;
	watch.latest.t_ns = 100;
	watch.looks = 11;
	watch.hash = 12;
	watch.marks[0].reached = true;
	watch.marks[1].armed = true;
	watch.marks[1].since.t_ns = 90;
	watch.marks[1].since_reads[2].bytes = 15;
	watch.typings[0].armed = true;
	watch.typings[0].next = 1;
	CHECK(screen_state_write(file, &watch, &frame, &counts) == 0);
	rewind(file);
	watch_deinit(&watch);
	return file;
}

static void test_all_comes_back(void)
{
	struct frame frame = { 0 };
	struct screen_counts counts;
	struct watch watch;
	FILE *file = kept();

	open_watch(&config, &watch);
	CHECK(screen_state_read(file, &watch, &frame, &counts) == 0);
	CHECK(watch.config == &config && watch.looked && watch.latest.t_ns == 100 && watch.looks == 11 && watch.hash == 12);
	CHECK(watch.marks[0].reached && !watch.marks[0].picture && watch.marks[1].armed && watch.marks[1].since.t_ns == 90);
	CHECK(watch.typings[0].armed && watch.typings[0].next == 1);
	CHECK(frame.width == 3 && frame.height == 2 && frame.pixels[5] == 6);
	CHECK(counts.film_ns == 7 && counts.film_waits && counts.film_frames == 8 && counts.lost == 9 && counts.disk_requests == 10);
	CHECK(counts.reads[2].bytes == 13 && counts.reads[2].requests == 14 && watch.marks[1].since_reads[2].bytes == 15);
	frame_deinit(&frame);
	watch_deinit(&watch);
	fclose(file);
}

static void refused(FILE *file, const struct config *of)
{
	struct frame frame = { 0 };
	struct screen_counts counts;
	struct watch watch;

	open_watch(of, &watch);
	CHECK(screen_state_read(file, &watch, &frame, &counts) == -EINVAL);
	frame_deinit(&frame);
	watch_deinit(&watch);
	fclose(file);
}

static void test_what_is_none_is_refused(void)
{
	FILE *empty = tmpfile(), *cut = kept();
	char bytes[4096];
	size_t size = fread(bytes, 1, sizeof bytes, cut);
	FILE *shorter = tmpfile();

	CHECK(fwrite(bytes, 1, size - 1, shorter) == size - 1);
	rewind(shorter);
	fclose(cut);
	refused(empty, &config);
	refused(shorter, &config);
	refused(kept(), &other);
}

/* A head that says of itself what no screen is: its last member is the frame's size. */
static void test_a_frame_without_bounds_is_refused(void)
{
	struct frame frame = { 0 };
	struct screen_counts counts;
	struct watch watch;
	FILE *file = kept();
	long end;

	CHECK(fseek(file, 0, SEEK_END) == 0);
	/* What is behind the head: two marks, a typing, six pixels. */
	end = ftell(file) - (long)(2 * sizeof(struct mark_state) + sizeof(struct typing_state) + 6 * sizeof(uint32_t));
	CHECK(fseek(file, end - (long)(2 * sizeof(uint32_t)), SEEK_SET) == 0);
	CHECK(fwrite((const uint32_t[]){ UINT32_MAX, UINT32_MAX }, sizeof(uint32_t), 2, file) == 2);
	rewind(file);
	open_watch(&config, &watch);
	CHECK(screen_state_read(file, &watch, &frame, &counts) == -ENOMEM && !frame.pixels);
	watch_deinit(&watch);
	fclose(file);
}

int main(void)
{
	test_all_comes_back();
	test_a_frame_without_bounds_is_refused();
	test_what_is_none_is_refused();
	printf("test_screen_state: ok\n");
	return 0;
}
