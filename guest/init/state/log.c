/* SPDX-License-Identifier: MIT */
/* Keeps the log in a ring in memory, and shows lines of it on the console as that takes them. */
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "shared/clock.h"
#include "shared/large.h"
#include "shared/own.h"
#include "shared/print.h"

/*
 * Powers of two: positions only grow, and wrap by themselves. What units write is in rings of its own, of which each has every
 * sixteenth unit: one that writes without end takes no place from PID 1's own lines, nor from most others.
 */
enum { OWN_BYTES = 1 << 16, UNIT_BYTES = 1 << 14, UNIT_RINGS = 16, RINGS = 1 + UNIT_RINGS };
enum { CONSOLE_BYTES = 1 << 14, LINE_BYTES = 1024, LOOK_MS = 20, LONGEST_LOOK_MS = 1000, BROKEN_LOOK_MS = 60000 };

struct ring {
	char *bytes;
	size_t size, head, tail;
};

/* Before each kept line. */
struct line_header {
	uint32_t number; /* of all lines */
	uint16_t size;
};

LARGE static char console_bytes[CONSOLE_BYTES];
static struct ring kept[RINGS];
static struct ring waiting = { .bytes = console_bytes, .size = CONSOLE_BYTES };
static uint32_t n_lines;
static unsigned lost_lines, look_ms;
static int console = -1;
static bool is_quiet, is_child;

void log_init(int fd, bool quiet)
{
	console = fd;
	is_quiet = quiet;
}

void log_become_child(int fd)
{
	log_init(fd, false);
	waiting.tail = waiting.head;
	is_child = true;
}

static void put(struct ring *ring, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		ring->bytes[ring->head++ % ring->size] = text[i];
}

static void get(const struct ring *ring, size_t at, void *ret, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((char *)ret)[i] = ring->bytes[(at + i) % ring->size];
}

static void keep(unsigned which, const char *line, size_t size)
{
	struct line_header header = { .number = n_lines++, .size = (uint16_t)size };
	struct ring *ring = &kept[which];

	if (!ring->bytes) {
		ring->size = which ? UNIT_BYTES : OWN_BYTES;
		ring->bytes = own_take(ring->size);
	}
	/* Room by forgetting whole lines from the front. */
	while (ring->size - (ring->head - ring->tail) < sizeof header + size) {
		struct line_header oldest;

		get(ring, ring->tail, &oldest, sizeof oldest);
		ring->tail += sizeof oldest + oldest.size;
	}
	put(ring, (const char *)&header, sizeof header);
	put(ring, line, size);
}

static void to_console(const char *line, size_t size)
{
	if (console < 0)
		return;
	if (waiting.size - (waiting.head - waiting.tail) < size + 64) {
		lost_lines++;
		return;
	}
	if (lost_lines > 0) {
		char note[64];
		int n = print(note, sizeof note, "init: %u lines were lost here\n", lost_lines);

		lost_lines = 0;
		put(&waiting, note, (size_t)n);
	}
	put(&waiting, line, size);
}

/* "[    1.234567] " */
static int put_time(char *line, size_t size)
{
	int64_t now_ns = clock_now_ns();

	return print(line, size, "[%5lld.%06lld] ", (long long)(now_ns / NS_PER_S), (long long)(now_ns % NS_PER_S / 1000));
}

void log_line(unsigned unit, const char *name, const char *text)
{
	char line[LINE_BYTES];
	int prefix = put_time(line, sizeof line), size = print(line + prefix, sizeof line - (size_t)prefix, "%s: %s", name, text);

	size = size + prefix < LINE_BYTES - 1 ? size + prefix : LINE_BYTES - 2;
	line[size++] = '\n';
	keep(1 + unit % UNIT_RINGS, line, (size_t)size);
}

void log_say(enum log_level level, const char *format, ...)
{
	char line[LINE_BYTES];
	int prefix = level == LOG_PLAIN ? 0 : put_time(line, sizeof line), size;
	va_list arguments;

	va_start(arguments, format);
	size = print_list(line + prefix, sizeof line - (size_t)prefix - 1, format, arguments);
	va_end(arguments);
	size = size < 0 ? prefix : size + prefix;
	if ((size_t)size > sizeof line - 2)
		size = sizeof line - 2;
	line[size++] = '\n';
	/* PID 1 keeps what a child says, which has none of its rings. */
	if (!is_child)
		keep(0, line, (size_t)size);
	if (level == LOG_PLAIN) {
		to_console(line, (size_t)size);
	} else if (level == LOG_FAILURE || !is_quiet) {
		/* What a child says gets its name and its time from PID 1. */
		if (!is_child)
			to_console("init: ", strlen("init: "));
		to_console(line + prefix, (size_t)(size - prefix));
	}
	if (is_child)
		log_flush();
}

/* Twice as long each time: a console that takes nothing should not keep the machine awake. */
static unsigned look_later(unsigned least_ms, unsigned most_ms)
{
	look_ms = look_ms * 2 < least_ms ? least_ms : look_ms * 2 > most_ms ? most_ms : look_ms * 2;
	return look_ms;
}

unsigned log_flush(void)
{
	while (waiting.tail < waiting.head) {
		size_t at = waiting.tail % waiting.size, size = waiting.head - waiting.tail;
		ssize_t written;

		if (size > waiting.size - at)
			size = waiting.size - at;
		written = write(console, waiting.bytes + at, size);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0 && errno == EAGAIN)
			return look_later(LOOK_MS, LONGEST_LOOK_MS);
		/* A terminal that has hung up may come back. */
		if (written < 0 && errno == EIO)
			return look_later(LONGEST_LOOK_MS, BROKEN_LOOK_MS);
		/* A console that is gone, or a full file: nothing will ever be written there. */
		waiting.tail = written <= 0 ? waiting.head : waiting.tail + (size_t)written;
		look_ms = 0;
	}
	return 0;
}

size_t log_copy(char *ret, size_t size)
{
	size_t at[RINGS], used = 0;

	for (size_t i = 0; i < RINGS; i++)
		at[i] = kept[i].tail;
	for (;;) {
		struct line_header header, oldest = { .size = 0 };
		size_t from = RINGS;

		for (size_t i = 0; i < RINGS; i++) {
			if (at[i] == kept[i].head)
				continue;
			get(&kept[i], at[i], &header, sizeof header);
			/* Numbers wrap; what is kept is never so far apart. */
			if (from == RINGS || (int32_t)(header.number - oldest.number) < 0) {
				from = i;
				oldest = header;
			}
		}
		if (from == RINGS || used + oldest.size > size)
			return used;
		get(&kept[from], at[from] + sizeof oldest, ret + used, oldest.size);
		used += oldest.size;
		at[from] += sizeof oldest + oldest.size;
	}
}
