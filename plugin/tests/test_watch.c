/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests which look makes which mark, of which moment it then is, and when keys are due. */
#include "screen/watch.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { EVERY_NS = 10, WIDTH = 4 };

static struct watch watch;
static uint32_t pixels[2][WIDTH];
static struct frame frames[2];
static int64_t now_ns, instructions;
static uint64_t requests;
static struct stamp made; /* the moment of the latest mark */
static const struct disk_count *made_reads; /* and what was read by then */

static void begin(const struct config *config)
{
	char message[256];

	CHECK(watch_open(config, 0, message, sizeof message, &watch) == 0);
	memset(pixels, 0, sizeof pixels);
	for (int i = 0; i < 2; i++)
		frames[i] = (struct frame){ WIDTH, 1, pixels[i], WIDTH };
	now_ns = instructions = 0;
	requests = 0;
}

/* The next look: the first pixel is `pixel`, and `busy_ns` of the time since the last one were not idle. */
static const char *look(uint32_t pixel, int64_t busy_ns)
{
	const struct disk_count *reads, *others;
	const struct screen_mark *mark, *first;
	struct look at = { .frame = &frames[0], .before = &frames[1] };

	memcpy(pixels[1], pixels[0], sizeof pixels[0]);
	at.changed = pixels[0][0] != pixel || now_ns == 0;
	pixels[0][0] = pixel;
	now_ns += EVERY_NS;
	instructions += busy_ns;
	at.at = (struct stamp){ now_ns, instructions, 0 };
	at.disk_requests = requests;
	at.reads[1].bytes = (uint64_t)now_ns; /* so that what was read says by when */
	watch_begin_look(&watch, &at);
	first = mark = watch_look(&watch, &at, &made, &reads);
	made_reads = first ? reads : NULL;
	while (mark) {
		watch_follow(&watch, mark->name, now_ns);
		mark = watch_look(&watch, &at, mark == first ? &(struct stamp){ 0, 0, 0 } : &made, &others);
	}
	watch_end_look(&watch, &at);
	return first ? first->name : "";
}

static void test_painted(void)
{
	struct screen_mark marks[] = { { .kind = SCREEN_PAINTED, .name = "window", .after = "begun", .stays_ns = 20, .colours = 2 } };
	struct config config = { .screen_marks = marks, .n_screen_marks = 1 };

	begin(&config);
	for (int i = 0; i < 5; i++)
		CHECK(!*look(1, 0)); /* two colours, and nobody looks for it yet */
	watch_follow(&watch, "other", now_ns);
	CHECK(!*look(1, 0));
	watch_follow(&watch, "begun", now_ns);
	CHECK(!*look(1, 0)); /* as it is looked for, at 70 */
	CHECK(!*look(0, 0)); /* one colour */
	CHECK(!*look(2, 7)); /* at 90 */
	CHECK(!*look(3, 0)); /* not for long: anew at 100 */
	CHECK(!*look(3, 0));
	CHECK(!strcmp(look(3, 0), "window") && made.t_ns == 100 && made.instructions == 7);
	CHECK(made_reads[1].bytes == 100 && !made_reads[0].bytes);
	CHECK(!*look(4, 0) && !*look(4, 0) && !*look(4, 0)); /* a mark is made once */
	CHECK(watch.looks == 15 && watch.changes == 5);
	watch_deinit(&watch);
}

/* A process that goes on from another counts from 0, and a mark may be of before. */
static void test_what_another_process_read_is_less_than_nothing(void)
{
	struct screen_mark marks[] = { { .kind = SCREEN_PAINTED, .name = "window", .after = "begun", .stays_ns = 20, .colours = 1 } };
	struct config config = { .screen_marks = marks, .n_screen_marks = 1 };
	struct disk_count before[COUNTED_DISKS_MAX] = { [1] = { 15, 2 } };

	begin(&config);
	watch_follow(&watch, "begun", now_ns);
	CHECK(!*look(1, 0)); /* since 10 */
	watch_count_reads_anew(&watch, before);
	CHECK(!*look(1, 0));
	CHECK(!strcmp(look(1, 0), "window") && made.t_ns == 10);
	CHECK((int64_t)made_reads[1].bytes == -5 && (int64_t)made_reads[1].requests == -2);
	watch_deinit(&watch);
}

static void test_region(void)
{
	/* Beside the pixel that changes. */
	struct screen_mark marks[] = { { .kind = SCREEN_PAINTED, .name = "a", .region = { 1, 0, 3, 1 }, .colours = 1, .stays_ns = 30 },
				       { .kind = SCREEN_PAINTED, .name = "b", .region = { 1, 0, 4, 1 }, .colours = 1 } };
	struct config config = { .screen_marks = marks, .n_screen_marks = 2 };

	begin(&config);
	CHECK(!*look(1, 0) && !*look(2, 0) && !*look(3, 0));
	CHECK(!strcmp(look(4, 0), "a") && made.t_ns == 10);
	CHECK(!*look(4, 0) && !*look(4, 0)); /* the other region is not on the screen */
	watch_deinit(&watch);
}

static void test_pictured(void)
{
	static char path[] = "/tmp/bootlab-picture-XXXXXX";
	struct screen_mark marks[] = { { .kind = SCREEN_PICTURED, .name = "a", .region = { 0, 0, 2, 1 }, .picture = path } };
	struct config config = { .screen_marks = marks, .n_screen_marks = 1 };
	const uint32_t wanted[] = { 7, 0 };
	char message[256];
	int fd = mkstemp(path);

	CHECK(fd >= 0 && write(fd, wanted, sizeof wanted) == sizeof wanted);
	begin(&config);
	CHECK(!*look(6, 0));
	CHECK(!strcmp(look(7, 0), "a") && made.t_ns == 20);
	watch_deinit(&watch);
	CHECK(write(fd, wanted, 1) == 1);
	close(fd);
	CHECK(watch_open(&config, 0, message, sizeof message, &watch) == -EINVAL && strstr(message, "not as many pixels as its region"));
	unlink(path);
	CHECK(watch_open(&config, 0, message, sizeof message, &watch) == -ENOENT && strstr(message, "picture a: /tmp/bootlab-picture-"));
}

static void test_idle(void)
{
	struct screen_mark marks[] = { { .kind = SCREEN_IDLE, .name = "rest", .stays_ns = 30, .busy_per_mille = 100 } };
	struct config config = { .screen_marks = marks, .n_screen_marks = 1 };

	begin(&config);
	CHECK(!*look(1, 0) && !*look(1, 0) && !*look(1, 0)); /* since 10 */
	CHECK(!*look(1, 2)); /* 40: two tenths of the time were busy */
	CHECK(!*look(1, 1) && !*look(1, 1)); /* one tenth may be */
	requests++;
	CHECK(!*look(1, 0)); /* 70: a disk was asked for something */
	CHECK(!*look(1, 0) && !*look(1, 0));
	CHECK(!*look(2, 0)); /* 100: the frame changed */
	CHECK(!*look(2, 0) && !*look(2, 0));
	CHECK(!strcmp(look(2, 0), "rest") && made.t_ns == 100);
	watch_deinit(&watch);
}

static void test_typed(void)
{
	struct screen_key keys[] = { { "a", 15, true }, { "a", 25, false } };
	struct screen_typing typings[] = { { .name = "name", .after = "window", .keys = keys, .n_keys = 2 } };
	struct screen_mark marks[] = { { .kind = SCREEN_PAINTED, .name = "window", .colours = 1 },
				       { .kind = SCREEN_ANSWERS, .name = "answered", .after = "name" } };
	struct config config = { .screen_marks = marks, .n_screen_marks = 2, .screen_typings = typings, .n_screen_typings = 1 };
	const struct screen_typing *ends;

	begin(&config);
	CHECK(!watch_key(&watch, 1000, &ends)); /* nothing is typed ahead of its mark */
	CHECK(!strcmp(look(1, 0), "window") && made.t_ns == 10);
	CHECK(!watch_key(&watch, now_ns, &ends));
	CHECK(!*look(2, 0) && !watch_key(&watch, now_ns, &ends)); /* 20 */
	CHECK(!*look(3, 0) && watch_key(&watch, now_ns, &ends) == &keys[0] && ends == &typings[0]); /* 30 */
	CHECK(!watch_key(&watch, now_ns, &ends));
	watch_follow(&watch, "name", now_ns);
	CHECK(!*look(3, 0) && watch_key(&watch, now_ns, &ends) == &keys[1] && !ends); /* 40: as it was */
	CHECK(!strcmp(look(4, 0), "answered") && made.t_ns == 50);
	CHECK(!watch_key(&watch, 1000, &ends));
	watch_deinit(&watch);
}

static void test_region_that_is_not_on_the_screen(void)
{
	struct screen_mark marks[] = { { .kind = SCREEN_ANSWERS, .name = "answered", .after = "name", .region = { 3, 0, 2, 1 } },
				       { .kind = SCREEN_IDLE, .name = "rest", .stays_ns = 20, .region = { 3, 0, 2, 1 } } };
	struct config config = { .screen_marks = marks, .n_screen_marks = 2 };

	begin(&config);
	CHECK(!*look(1, 0));
	watch_follow(&watch, "name", now_ns);
	CHECK(!*look(2, 0) && !*look(3, 0)); /* no answer of it */
	CHECK(!*look(3, 0) && !*look(3, 0) && !*look(3, 0)); /* no rest */
	watch_deinit(&watch);
}

int main(void)
{
	test_painted();
	test_what_another_process_read_is_less_than_nothing();
	test_region();
	test_pictured();
	test_idle();
	test_typed();
	test_region_that_is_not_on_the_screen();
	puts("test_watch: ok");
	return 0;
}
