/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shared/clock.h"

/* Powers of two: positions only grow, and wrap by themselves. */
enum { KEPT_BYTES = 1 << 17, CONSOLE_BYTES = 1 << 14, LINE_BYTES = 1024 };

struct ring {
	char *bytes;
	size_t size, head, tail;
};

static char kept_bytes[KEPT_BYTES], console_bytes[CONSOLE_BYTES];
static struct ring kept = { .bytes = kept_bytes, .size = KEPT_BYTES };
static struct ring waiting = { .bytes = console_bytes, .size = CONSOLE_BYTES };
static unsigned lost_lines;
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

/* Make room by forgetting whole lines from the front. */
static void forget(struct ring *ring, size_t room)
{
	while (ring->size - (ring->head - ring->tail) < room)
		while (ring->tail < ring->head && ring->bytes[ring->tail++ % ring->size] != '\n')
			;
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
		int n = snprintf(note, sizeof note, "init: %u lines were lost here\n", lost_lines);

		lost_lines = 0;
		put(&waiting, note, (size_t)n);
	}
	put(&waiting, line, size);
}

void log_say(enum log_level level, const char *format, ...)
{
	char line[LINE_BYTES];
	int64_t now_ns = clock_now_ns();
	int prefix = 0, size;
	va_list arguments;

	if (level != LOG_PLAIN)
		prefix = snprintf(line, sizeof line, "[%5lld.%06lld] ", (long long)(now_ns / NS_PER_S),
				  (long long)(now_ns % NS_PER_S / 1000));
	va_start(arguments, format);
	size = vsnprintf(line + prefix, sizeof line - (size_t)prefix - 1, format, arguments);
	va_end(arguments);
	size = size < 0 ? prefix : size + prefix;
	if ((size_t)size > sizeof line - 2)
		size = sizeof line - 2;
	line[size++] = '\n';
	forget(&kept, (size_t)size);
	put(&kept, line, (size_t)size);
	if (level == LOG_PLAIN) {
		to_console(line, (size_t)size);
	} else if (level == LOG_FAILURE || (level == LOG_NOTE && !is_quiet)) {
		/* What a child says gets its name and its time from PID 1. */
		if (!is_child)
			to_console("init: ", strlen("init: "));
		to_console(line + prefix, (size_t)(size - prefix));
	}
	if (is_child)
		log_flush();
}

bool log_flush(void)
{
	while (waiting.tail < waiting.head) {
		size_t at = waiting.tail % waiting.size, size = waiting.head - waiting.tail;
		ssize_t written;

		if (size > waiting.size - at)
			size = waiting.size - at;
		written = write(console, waiting.bytes + at, size);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0 && (errno == EAGAIN || errno == EIO))
			return true;
		/* A console that is gone, or a full file: nothing will ever be written there. */
		waiting.tail = written <= 0 ? waiting.head : waiting.tail + (size_t)written;
	}
	return false;
}

size_t log_copy(char *ret, size_t size)
{
	size_t from = kept.tail, n = kept.head - kept.tail;

	if (n > size)
		from += n - size, n = size;
	for (size_t i = 0; i < n; i++)
		ret[i] = kept.bytes[(from + i) % kept.size];
	return n;
}
