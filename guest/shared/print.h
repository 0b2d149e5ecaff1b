/* SPDX-License-Identifier: MIT */
/*
 * Text from a format, as snprintf(3) makes it, of what is used here: %s %c %d %u %x %X %zu %lld and %p, with a width, the
 * flags - and 0, and a precision of a text. The C library's own takes nine thousand bytes more: it knows fractions.
 */
#ifndef BOOTLAB_SHARED_PRINT_H
#define BOOTLAB_SHARED_PRINT_H

#include <stdarg.h>
#include <stddef.h>

/* The size that the whole text has, of which as much is at `to` as there is room for, with a NUL behind it. */
__attribute__((format(printf, 3, 4)))
int print(char *to, size_t room, const char *format, ...);

__attribute__((format(printf, 3, 0)))
int print_list(char *to, size_t room, const char *format, va_list arguments);

#endif
