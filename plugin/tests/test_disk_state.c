/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests that a model which goes on from a file answers as the one that never stopped, and that a file which is none is refused. */
#include "disks/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { SECTORS = 1 << 20, REQUESTS = 40 };

static const struct disk_figures head = {
	.of = { [DISK_DEPTH] = 32, [DISK_COMMAND_NS] = 100, [DISK_TURN_NS] = 8333333, [DISK_TRACK_SECTORS] = 1000, [DISK_TRACKS] = 1000,
		[DISK_HEADS] = 2, [DISK_TRACK_SEEK_NS] = 1000000, [DISK_AVERAGE_SEEK_NS] = 8200000, [DISK_CACHE_BYTES] = 1 << 20 },
	.sectors = SECTORS,
};
static const struct disk_figures volume = {
	.of = { [DISK_READ_NS] = 1000000, [DISK_IOPS] = 3000, [DISK_FIRST_TOUCH_NS] = 5000000, [DISK_TOUCH_BYTES] = 1 << 19 },
	.sectors = SECTORS,
};

static struct disk_model first, second;

static void open_model(enum disk_kind kind, const struct disk_figures *figures, struct disk_model *ret)
{
	char message[256];

	CHECK(disk_model_init(kind, figures, message, sizeof message, ret) == 0);
}

static void ask(struct disk_model *model, uint32_t id, int64_t now)
{
	/* Reads and writes far from each other, some twice, now and then a flush. */
	static const enum disk_operation operations[] = { DISK_READ, DISK_WRITE, DISK_READ, DISK_WRITE, DISK_FLUSH };
	struct disk_request request = { .id = id, .operation = operations[id % 5], .sector = id % 7 * 99991 % SECTORS, .sectors = 64 };

	CHECK(disk_model_ask(model, &request, now) == 0);
}

/* All that is asked for from `begin` on, and all that is done: the ids and times, added up in their order. */
static uint64_t go_on(struct disk_model *model, uint32_t begin, int64_t now)
{
	struct disk_request request;
	uint64_t sum = 0;

	for (uint32_t id = begin; id < begin + REQUESTS; id++, now += 700000) {
		while (disk_model_take(model, now, &request))
			sum = sum * 31 + request.id + (uint64_t)request.done_ns;
		ask(model, id, now);
	}
	while (disk_model_next(model) != INT64_MAX)
		if (disk_model_take(model, disk_model_next(model), &request))
			sum = sum * 31 + request.id + (uint64_t)request.done_ns;
	return sum;
}

static FILE *kept(enum disk_kind kind, const struct disk_figures *figures)
{
	struct disk_request request;
	FILE *file = tmpfile();

	open_model(kind, figures, &first);
	for (uint32_t id = 0; id < REQUESTS; id++) {
		disk_model_take(&first, id * 300000, &request);
		ask(&first, id, id * 300000);
	}
	CHECK(first.n_waiting + first.n_active > 1);
	CHECK(disk_state_write(file, &first) == 0);
	rewind(file);
	return file;
}

static void test_who_goes_on_answers_as_who_never_stopped(void)
{
	const struct disk_figures *figures[] = { &volume, &head };

	for (enum disk_kind kind = DISK_FLASH; kind <= DISK_HEAD; kind++) {
		FILE *file = kept(kind, figures[kind]);

		open_model(kind, figures[kind], &second);
		CHECK(disk_state_read(file, &second) == 0 && fgetc(file) == EOF);
		CHECK(second.n_waiting == first.n_waiting && second.n_active == first.n_active);
		CHECK(kind == DISK_HEAD || second.flash.touched != first.flash.touched);
		CHECK(go_on(&first, REQUESTS, REQUESTS * 300000) == go_on(&second, REQUESTS, REQUESTS * 300000));
		disk_model_deinit(&first);
		disk_model_deinit(&second);
		fclose(file);
	}
}

static void refused(FILE *file, enum disk_kind kind, const struct disk_figures *figures)
{
	open_model(kind, figures, &second);
	CHECK(disk_state_read(file, &second) == -EINVAL && !second.n_waiting);
	disk_model_deinit(&first);
	disk_model_deinit(&second);
	fclose(file);
}

static void test_what_is_none_is_refused(void)
{
	struct disk_figures other = volume;
	FILE *file = kept(DISK_FLASH, &volume), *shorter = tmpfile();
	size_t size;
	char *bytes = malloc(1 << 20);

	CHECK(bytes && shorter);
	size = fread(bytes, 1, 1 << 20, file);
	CHECK(size > sizeof first && fwrite(bytes, 1, size - 1, shorter) == size - 1);
	rewind(shorter);
	fclose(file);
	free(bytes);
	refused(shorter, DISK_FLASH, &volume);
	disk_model_deinit(&first);
	refused(tmpfile(), DISK_FLASH, &volume);
	refused(kept(DISK_HEAD, &head), DISK_FLASH, &volume);
	other.of[DISK_IOPS]++;
	refused(kept(DISK_FLASH, &volume), DISK_FLASH, &other);
}

static void test_counts_without_bounds_are_refused(void)
{
	for (int what = 0; what < 3; what++) {
		FILE *file = tmpfile();

		open_model(DISK_HEAD, &head, &first);
		first.n_waiting = what == 0 ? DISK_REQUESTS_MAX + 1 : 0;
		first.head.cached = what == 1 ? DISK_EXTENTS_MAX + 1 : 0;
		first.head.n_unwritten = what == 2 ? SIZE_MAX : 0;
		CHECK(disk_state_write(file, &first) == 0);
		rewind(file);
		refused(file, DISK_HEAD, &head);
	}
}

static void test_requests_that_are_none_are_refused(void)
{
	static const struct disk_request none[] = {
		{ .id = DISK_REQUESTS_MAX },
		{ .operation = (enum disk_operation)(DISK_FLUSH + 1) },
		{ .sector = SECTORS, .sectors = 1 },
		{ .sector = UINT64_MAX, .sectors = 1 },
		{ .sectors = UINT32_MAX },
	};

	for (size_t i = 0; i < 2 * (sizeof none / sizeof *none); i++) {
		FILE *file = tmpfile();

		open_model(DISK_FLASH, &volume, &first);
		*(i % 2 ? &first.n_waiting : &first.n_active) = 2;
		(i % 2 ? first.waiting : first.active)[1] = none[i / 2];
		CHECK(disk_state_write(file, &first) == 0);
		rewind(file);
		refused(file, DISK_FLASH, &volume);
	}
}

int main(void)
{
	test_who_goes_on_answers_as_who_never_stopped();
	test_what_is_none_is_refused();
	test_counts_without_bounds_are_refused();
	test_requests_that_are_none_are_refused();
	puts("test_disk_state: ok");
	return 0;
}
