/* SPDX-License-Identifier: MIT */
/*
 * The log of PID 1: kept in memory, a part of it shown on the console. Nothing here waits: a console that takes no more
 * loses lines, and says later how many.
 */
#ifndef BOOTLAB_INIT_LOG_H
#define BOOTLAB_INIT_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum log_level {
	LOG_FAILURE, /* on the console always */
	LOG_NOTE,    /* on the console unless it is quiet */
	LOG_LINE,    /* a line that some unit has written: kept alone */
	LOG_PLAIN,   /* on the console, and nothing before it: marks */
};

/* `fd` is the console, not blocking, or -1. */
void log_init(int fd, bool quiet);

/* In a fork of PID 1: say everything to `fd` instead, at once and waiting for it. */
void log_become_child(int fd);

__attribute__((format(printf, 2, 3)))
void log_say(enum log_level level, const char *format, ...);

/* Write what waits for the console; true when some of it still does. */
bool log_flush(void);

/* The kept lines, oldest first; the number of bytes put into `ret`. */
size_t log_copy(char *ret, size_t size);

#endif
