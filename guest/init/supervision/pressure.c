/* SPDX-License-Identifier: MIT */
/* Decides from /proc/stat how many units may be starting at once. */
#include "pressure.h"

#include <fcntl.h>
#include <unistd.h>

#include "shared/clock.h"
#include "shared/text.h"

/* STALE_MS: a sample that began longer ago says little about now. */
enum { UNUSED_PERCENT = 50, DISK_PERCENT = 50, STALE_MS = 10 * PRESSURE_SAMPLE_MS };
enum { STAT_BYTES = 512, FIELDS = 8, IDLE_FIELD = 3, IOWAIT_FIELD = 4 };
enum { NORMAL_PER_CPU = 2, MOST_PER_CPU = 8 };

static enum pressure pressure; /* of the last sample */
static unsigned n_samples;

static unsigned processors, places;
static bool adaptive;

bool pressure_parse(const char *text, size_t size, struct processor_time *ret)
{
	struct lines lines = lines_of(text, size);
	struct slice line, word;

	*ret = (struct processor_time){ .total = 0 };
	if (!line_next(&lines, &line) || !word_next(&line, &word) || !slice_is(word, "cpu"))
		return false;
	for (int i = 0; i < FIELDS && word_next(&line, &word); i++) {
		int64_t ticks;

		if (parse_number(word, 0, INT64_MAX / FIELDS, &ticks))
			return false;
		ret->total += ticks;
		if (i == IDLE_FIELD)
			ret->idle = ticks;
		if (i == IOWAIT_FIELD)
			ret->disk = ticks;
	}
	return true;
}

enum pressure pressure_between(const struct processor_time *before, const struct processor_time *after)
{
	int64_t total = after->total - before->total, disk = after->disk - before->disk;
	int64_t unused = after->idle - before->idle + disk;

	if (total <= 0)
		return PRESSURE_UNKNOWN;
	if (unused * 100 < total * UNUSED_PERCENT)
		return PRESSURE_CPU;
	return disk * 100 < unused * DISK_PERCENT ? PRESSURE_NONE : PRESSURE_DISK;
}

enum pressure pressure_now(int64_t now_ns)
{
	static struct processor_time before;
	static int64_t begun_ns;
	static int fd = -1;
	struct processor_time after;
	char text[STAT_BYTES];
	int64_t passed_ns = now_ns - begun_ns;
	ssize_t size;

	if (passed_ns < PRESSURE_SAMPLE_MS * NS_PER_MS)
		return pressure;
	/* Opened once: each time would cost more than reading it. */
	if (fd < 0)
		fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	size = pread(fd, text, sizeof text, 0);
	if (size <= 0 || !pressure_parse(text, (size_t)size, &after))
		return PRESSURE_UNKNOWN;
	if (after.total == before.total)
		return pressure; /* not a clock tick yet */
	pressure = before.total > 0 && passed_ns < STALE_MS * NS_PER_MS ? pressure_between(&before, &after) : PRESSURE_UNKNOWN;
	before = after;
	begun_ns = now_ns;
	n_samples++;
	return pressure;
}

unsigned places_after(unsigned n, unsigned cpus, enum pressure found)
{
	unsigned normal = NORMAL_PER_CPU * cpus, most = MOST_PER_CPU * cpus;

	switch (found) {
	case PRESSURE_NONE:
	case PRESSURE_DISK:
		return n + cpus < most ? n + cpus : most;
	case PRESSURE_CPU:
		return n > normal + cpus ? n - cpus : normal;
	default:
		return n;
	}
}

void places_init(unsigned n_processors, unsigned fixed)
{
	processors = n_processors;
	adaptive = fixed == 0;
	places = adaptive ? NORMAL_PER_CPU * processors : fixed;
}

unsigned places_now(unsigned taken, int64_t now_ns)
{
	static unsigned n_answered;

	if (adaptive && taken >= places) {
		enum pressure found = pressure_now(now_ns);

		if (n_samples != n_answered)
			places = places_after(places, processors, found);
		n_answered = n_samples;
	}
	return places;
}

bool places_move(void)
{
	return adaptive && places < MOST_PER_CPU * processors;
}
