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
	LOG_PLAIN,   /* on the console, and nothing before it: marks */
};

/* `fd` is the console, not blocking, or -1. */
void log_init(int fd, bool quiet);

/* In a fork of PID 1: say everything to `fd` instead, at once and waiting for it. */
void log_become_child(int fd);

__attribute__((format(printf, 2, 3)))
void log_say(enum log_level level, const char *format, ...);

/* A line that a unit has written: kept, and not shown. */
void log_line(unsigned unit, const char *name, const char *text);

/* Write what waits for the console; in how many ms to try again, 0: nothing waits. */
unsigned log_flush(void);

/* The kept lines, oldest first, of all together; the number of bytes put into `ret`. */
size_t log_copy(char *ret, size_t size);

#endif
