/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests modelled disks against closed forms: one request at a time, many at once, a head's way and the angle under it. */
#include "disks/model.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "check.h"

static struct disk_model model;

/* Figures that differ from 0 are set by name, as the config does. */
struct setting {
	const char *name;
	int64_t value;
};

static void open_model(enum disk_kind kind, uint64_t sectors, const struct setting *settings, size_t count)
{
	struct disk_figures figures = { .sectors = sectors };
	char message[256];

	for (size_t i = 0; i < count; i++) {
		CHECK(disk_figure_find(settings[i].name) < DISK_FIGURES);
		figures.of[disk_figure_find(settings[i].name)] = settings[i].value;
	}
	CHECK(disk_model_init(kind, &figures, message, sizeof message, &model) == 0);
}

#define OPEN(kind, sectors, ...)                                                  \
	do {                                                                      \
		const struct setting settings[] = { __VA_ARGS__ };                \
		open_model(kind, sectors, settings, sizeof settings / sizeof *settings); \
	} while (0)

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t bound)
{
	random_state = random_state * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(random_state >> 8) * bound >> 24);
}

static void ask(uint32_t id, enum disk_operation operation, uint64_t sector, uint32_t sectors, int64_t now)
{
	struct disk_request request = { .id = id, .operation = operation, .sector = sector, .sectors = sectors };

	CHECK(disk_model_ask(&model, &request, now) == 0);
}

/* The next one, whenever it is done. */
static struct disk_request next_done(void)
{
	struct disk_request request;
	int64_t next = disk_model_next(&model);

	for (int events = 0; !disk_model_take(&model, next, &request); events++) {
		CHECK(events < 10000 && disk_model_next(&model) > next);
		next = disk_model_next(&model);
		CHECK(next != INT64_MAX);
	}
	return request;
}

static struct disk_request do_one(enum disk_operation operation, uint64_t sector, uint32_t sectors, int64_t now)
{
	struct disk_request request;

	while (disk_model_take(&model, now, &request))
		;
	ask(7, operation, sector, sectors, now);
	request = next_done();
	CHECK(request.id == 7 && request.asked_ns == now && request.started_ns >= now && request.done_ns >= request.started_ns);
	return request;
}

static void test_a_card_takes_one_command_at_a_time(void)
{
	int64_t free_ns = 0, now = 0;

	OPEN(DISK_FLASH, 1 << 24, { "depth", 1 }, { "read_ns", 502826 }, { "write_ns", 1590400 }, { "read_bytes_s", 25000000 },
	     { "write_bytes_s", 10000000 });
	for (uint32_t i = 0; i < 1000; i++) {
		bool write = random_below(2);
		uint32_t sectors = 8 * (1 + random_below(64));
		int64_t start = now > free_ns ? now : free_ns, bytes = (int64_t)sectors * 512;
		struct disk_request request;

		ask(i, write ? DISK_WRITE : DISK_READ, random_below(1 << 20), sectors, now);
		/* Two at once, every other time. */
		if (i % 2)
			continue;
		request = next_done();
		if (request.id != i)
			request = next_done();
		free_ns = start + (write ? 1590400 + bytes * 1000000000 / 10000000 : 502826 + bytes * 1000000000 / 25000000);
		if (i && model.n_active == 0) /* nothing was in front of it that is not in `start` */
			CHECK(request.done_ns >= free_ns);
		else
			CHECK(request.done_ns == free_ns);
		free_ns = request.done_ns;
		now = free_ns + random_below(1000000);
	}
}

static void test_each_request_alone_takes_its_closed_form(void)
{
	int64_t now = 12345;

	OPEN(DISK_FLASH, 1 << 24, { "depth", 32 }, { "command_ns", 10204 }, { "read_ns", 59405 }, { "write_ns", 9845 },
	     { "flush_ns", 77 }, { "read_bytes_s", 560000000 }, { "write_bytes_s", 530000000 });
	for (int i = 0; i < 1000; i++) {
		uint32_t sectors = 1 + random_below(2048);
		int64_t bytes = (int64_t)sectors * 512;

		CHECK(do_one(DISK_READ, random_below(1 << 20), sectors, now).done_ns == now + 10204 + 59405 + bytes * 1000000000 / 560000000);
		now += 100000000;
		CHECK(do_one(DISK_WRITE, random_below(1 << 20), sectors, now).done_ns == now + 10204 + 9845 + bytes * 1000000000 / 530000000);
		now += 100000000;
		CHECK(do_one(DISK_FLUSH, 0, 0, now).done_ns == now + 10204 + 77);
		now += 100000000;
	}
}

/* Keeps `depth` requests on their way; returns how long `count` of them took. */
static int64_t keep_busy(uint32_t depth, uint32_t count, uint32_t sectors, bool in_row)
{
	int64_t last = 0;

	for (uint32_t i = 0; i < count + depth; i++) {
		if (i >= depth)
			last = next_done().done_ns;
		if (i < count)
			ask(i, DISK_READ, in_row ? (uint64_t)i * sectors : random_below(1 << 20) * 8ull, sectors, last);
	}
	return last;
}

static void check_rate(int64_t took_ns, uint64_t amount, double wanted, double tolerance)
{
	double rate = (double)amount * 1e9 / (double)took_ns;

	if (fabs(rate / wanted - 1) > tolerance)
		fprintf(stderr, "%.1f a second, not %.1f\n", rate, wanted);
	CHECK(fabs(rate / wanted - 1) <= tolerance);
}

/* What the figures were made of comes out again. */
static void test_published_rates(void)
{
	OPEN(DISK_FLASH, 1 << 24, { "depth", 32 }, { "command_ns", 10204 }, { "read_ns", 59405 }, { "read_bytes_s", 560000000 });
	check_rate(keep_busy(1, 1000, 8, false), 1000, 13000, 0.0001);
	OPEN(DISK_FLASH, 1 << 24, { "depth", 32 }, { "command_ns", 10204 }, { "read_ns", 59405 }, { "read_bytes_s", 560000000 });
	check_rate(keep_busy(32, 20000, 8, false), 20000, 98000, 0.001);
	OPEN(DISK_FLASH, 1 << 24, { "depth", 32 }, { "command_ns", 10204 }, { "read_ns", 59405 }, { "read_bytes_s", 560000000 });
	check_rate(keep_busy(32, 4000, 256, true), 4000ull * 256 * 512, 560e6, 0.001);
	OPEN(DISK_FLASH, 1 << 24, { "command_ns", 1666 }, { "read_ns", 49795 }, { "read_bytes_s", 3500000000 });
	check_rate(keep_busy(32, 50000, 8, false), 50000, 600000, 0.015);
	OPEN(DISK_FLASH, 1 << 24, { "read_ns", 1000000 }, { "read_bytes_s", 125 << 20 }, { "iops", 3000 }, { "io_bytes", 256 << 10 });
	check_rate(keep_busy(64, 20000, 8, false), 20000, 3000, 0.001);
	OPEN(DISK_FLASH, 1 << 24, { "read_ns", 1000000 }, { "read_bytes_s", 125 << 20 }, { "iops", 3000 }, { "io_bytes", 256 << 10 });
	check_rate(keep_busy(64, 4000, 256, true), 4000ull * 256 * 512, 125 << 20, 0.001);
	/* Four operations each. */
	OPEN(DISK_FLASH, 1 << 24, { "iops", 3000 }, { "io_bytes", 256 << 10 });
	check_rate(keep_busy(64, 4000, 2048, true), 4000, 750, 0.001);
}

static void test_the_first_read_of_a_block_is_dearer_once(void)
{
	OPEN(DISK_FLASH, 1 << 20, { "read_ns", 1000 }, { "write_ns", 10 }, { "first_touch_ns", 50000 }, { "touch_bytes", 524288 });
	CHECK(do_one(DISK_READ, 0, 8, 0).done_ns == 51000);
	CHECK(do_one(DISK_READ, 1016, 8, 100000).done_ns == 101000);
	CHECK(do_one(DISK_READ, 1020, 8, 200000).done_ns == 251000);
	CHECK(do_one(DISK_WRITE, 4096, 8, 300000).done_ns == 300010);
	CHECK(do_one(DISK_READ, 4096, 8, 400000).done_ns == 401000);
	CHECK(do_one(DISK_READ, (1 << 20) - 8, 8, 500000).done_ns == 551000);
	disk_model_deinit(&model);
}

#define HEAD                                                                                                            \
	{ "depth", 32 }, { "read_bytes_s", 600000000 }, { "write_bytes_s", 600000000 }, { "turn_ns", 8333333 },          \
		{ "track_sectors", 3258 }, { "tracks", 320800 }, { "heads", 3 }, { "track_seek_ns", 1000000 },           \
		{ "average_seek_ns", 8200000 }

#define CACHE { "cache_bytes", 64000000 }

/* Written anew in floating point: the way, then the angle that is left, then what passes under the head. */
static double head_done(uint64_t from, uint64_t sector, uint32_t sectors, double t)
{
	double a = floor((double)from / 3258), b = floor((double)sector / 3258), way = fabs(floor(a / 3) - floor(b / 3));
	double seek = a == b ? 0 : 1e6 + 7.2e6 * 15 / 8 * sqrt(way / 320800), turn = 8333333, angle, wait;

	t += seek;
	angle = fmod(((double)sector - b * 3258) / 3258 * turn + b * 1e6, turn);
	wait = fmod(angle - fmod(t, turn) + turn, turn);
	return t + wait + sectors / 3258.0 * turn + (floor((double)(sector + sectors - 1) / 3258) - b) * 1e6;
}

static void test_a_head_takes_its_way_and_its_turn(void)
{
	uint64_t at = 0, disk = 3ull * 320800 * 3258 - 4096, most = 0;
	double sum = 0;

	OPEN(DISK_HEAD, 3ull * 320800 * 3258, HEAD, { "cache_bytes", 1 << 20 });
	for (int i = 0; i < 20000; i++) {
		uint64_t sector = (uint64_t)random_below(1 << 24) * disk >> 24;
		uint32_t sectors = 8 * (1 + random_below(64));
		int64_t now = (int64_t)i * 100000000;
		int64_t done = do_one(DISK_READ, sector, sectors, now).done_ns;
		double wanted = head_done(at, sector, sectors, (double)now);

		/* Rounding may cost a whole turn where the head comes as the sector does. */
		if (fabs((double)done - wanted) > 100 && fabs(fabs((double)done - wanted) - 8333333) > 100)
			fprintf(stderr, "%lu + %u at %ld: %ld, not %.0f\n", sector, sectors, now, done, wanted);
		CHECK(fabs((double)done - wanted) <= 100 || fabs(fabs((double)done - wanted) - 8333333) <= 100);
		sum += (double)(done - now) - sectors / 3258.0 * 8333333;
		if ((uint64_t)(done - now) > most)
			most = (uint64_t)(done - now);
		/* It reads on until it is called: as much as the cache holds, which is little. */
		at = sector + sectors + 2048;
		if (at > 3ull * 320800 * 3258)
			at = 3ull * 320800 * 3258;
	}
	/* The published average seek and half a turn; never more than the whole way and a turn. */
	CHECK(fabs(sum / 20000 / (8.2e6 + 8333333 / 2.0) - 1) < 0.02);
	CHECK(most < 1000000 + 13500000 + 8333334 + 3 * 1000000);
}

static void test_a_head_reads_a_row_without_missing_a_turn(void)
{
	OPEN(DISK_HEAD, 1 << 24, HEAD, CACHE);
	check_rate(keep_busy(1, 4000, 256, true), 4000ull * 256 * 512, 3258 * 512 * 1e9 / 9333333, 0.01);
	/* Once more: all that fits is still in the cache. */
	CHECK(do_one(DISK_READ, 3999 * 256, 256, 1000000000000).done_ns == 1000000000000 + 256 * 512 * 1000000000ll / 600000000);
}

static void test_the_drive_takes_what_it_reaches_soonest(void)
{
	uint64_t sectors[31], at;
	int64_t t;

	OPEN(DISK_HEAD, 1 << 28, HEAD, CACHE);
	/* While the head is on its way to the first, the others gather. */
	ask(100, DISK_READ, 1000, 8, 0);
	for (uint32_t i = 0; i < 31; i++) {
		sectors[i] = random_below(1 << 24) * 8ull;
		ask(i, DISK_READ, sectors[i], 8, 0);
	}
	t = next_done().done_ns;
	at = 1008;
	for (int n = 0; n < 31; n++) {
		double best = 1e300;
		uint32_t wanted = 0, got;

		for (uint32_t i = 0; i < 31; i++)
			if (sectors[i] && head_done(at, sectors[i], 8, (double)t) < best) {
				best = head_done(at, sectors[i], 8, (double)t);
				wanted = i;
			}
		got = next_done().id;
		CHECK(got == wanted);
		t = (int64_t)best;
		at = sectors[got] + 8;
		sectors[got] = 0;
	}
}

static void test_a_flush_waits_for_the_platters(void)
{
	struct disk_request request;

	OPEN(DISK_HEAD, 1 << 28, HEAD, CACHE);
	/* Into the cache at the cable's speed. */
	CHECK(do_one(DISK_WRITE, 5000000, 8, 0).done_ns == 8 * 512 * 1000000000ll / 600000000);
	CHECK(do_one(DISK_WRITE, 9000000, 8, 10000).done_ns == 10000 + 8 * 512 * 1000000000ll / 600000000);
	/* Read again out of it. */
	CHECK(do_one(DISK_READ, 9000000, 8, 20000).done_ns == 20000 + 8 * 512 * 1000000000ll / 600000000);
	request = do_one(DISK_FLUSH, 0, 0, 40000);
	CHECK(request.done_ns > (int64_t)head_done(0, 5000000, 8, 0) && model.head.n_unwritten == 0);
	CHECK(do_one(DISK_FLUSH, 0, 0, request.done_ns + 1).done_ns == request.done_ns + 1);
}

/* Whatever is asked: each is answered once, in its time, at most `depth` at once; a flush behind all in front of it. */
static void test_nothing_is_lost(enum disk_kind kind)
{
	static bool waits[DISK_REQUESTS_MAX];
	static struct disk_request kept[DISK_REQUESTS_MAX];
	uint32_t n = 0, answered = 0;
	int64_t now = 0;

	OPEN(kind, 1 << 24, HEAD, CACHE, { "command_ns", 100 }, { "read_ns", 5000 }, { "write_ns", 900 }, { "channels", 4 });
	memset(waits, 0, sizeof waits);
	for (int i = 0; i < 40000; i++) {
		struct disk_request request;

		now += random_below(3) ? 0 : random_below(3000000);
		while (disk_model_take(&model, now, &request)) {
			CHECK(waits[request.id] && request.done_ns <= now && request.started_ns >= request.asked_ns);
			CHECK(kept[request.id].sector == request.sector && kept[request.id].asked_ns == request.asked_ns);
			if (request.operation == DISK_FLUSH)
				for (uint32_t id = 0; id < DISK_REQUESTS_MAX; id++)
					CHECK(!waits[id] || kept[id].asked_ns >= request.asked_ns || id == request.id);
			waits[request.id] = false;
			answered++;
		}
		CHECK(kind == DISK_HEAD || model.n_active <= 32);
		if (n - answered < 200) {
			uint32_t id = 0, what = random_below(20);

			while (waits[id])
				id++;
			kept[id] = (struct disk_request){ .id = id,
							  .operation = what == 0 ? DISK_FLUSH : what < 8 ? DISK_WRITE : DISK_READ,
							  .sector = random_below(1 << 20) * 8ull,
							  .sectors = 8 * (1 + random_below(32)) };
			if (kept[id].operation == DISK_FLUSH)
				kept[id].sector = kept[id].sectors = 0;
			kept[id].asked_ns = now;
			waits[id] = true;
			ask(id, kept[id].operation, kept[id].sector, kept[id].sectors, now);
			n++;
		}
	}
	while (answered < n) {
		waits[next_done().id] = false;
		answered++;
	}
	CHECK(model.n_active == 0 && model.n_waiting == 0);
	disk_model_reset(&model);
}

static void check_refused(enum disk_kind kind, const char *name, int64_t value, const char *wanted)
{
	struct disk_figures figures = { .sectors = 8 };
	char message[256] = "";

	figures.of[disk_figure_find(name)] = value;
	CHECK(disk_model_init(kind, &figures, message, sizeof message, &model) == -EINVAL);
	CHECK(!strcmp(message, wanted));
}

static void test_figures_that_cannot_be(void)
{
	struct disk_request request = { .id = 0, .operation = DISK_READ, .sectors = 8 };

	CHECK(disk_figure_find("speed") == DISK_FIGURES);
	check_refused(DISK_HEAD, "turn_ns", 1, "track_sectors is missing: a disk with a head has it");
	check_refused(DISK_FLASH, "read_ns", -1, "read_ns is less than nothing");
	check_refused(DISK_FLASH, "track_seek_ns", 1, "average_seek_ns is less than track_seek_ns");
	check_refused(DISK_FLASH, "first_touch_ns", 1, "touch_bytes is no multiple of a sector's 512");
	OPEN(DISK_FLASH, 8, { "read_ns", 1 }, { "depth", 1 });
	for (int i = 0; i < DISK_REQUESTS_MAX; i++)
		CHECK(disk_model_ask(&model, &request, 0) == 0);
	CHECK(disk_model_ask(&model, &request, 0) == -ENOBUFS);
	disk_model_reset(&model);
	CHECK(disk_model_next(&model) == INT64_MAX);
}

int main(void)
{
	test_a_card_takes_one_command_at_a_time();
	test_each_request_alone_takes_its_closed_form();
	test_published_rates();
	test_the_first_read_of_a_block_is_dearer_once();
	test_a_head_takes_its_way_and_its_turn();
	test_a_head_reads_a_row_without_missing_a_turn();
	test_the_drive_takes_what_it_reaches_soonest();
	test_a_flush_waits_for_the_platters();
	test_nothing_is_lost(DISK_FLASH);
	test_nothing_is_lost(DISK_HEAD);
	test_figures_that_cannot_be();
	puts("test_disk_model: ok");
	return 0;
}
