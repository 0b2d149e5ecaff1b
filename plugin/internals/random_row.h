/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The row of random numbers that QEMU gives its processors: with -seed each thread has one of its own, which that decides. No QEMU
 * headers.
 */
#ifndef BOOTLAB_RANDOM_ROW_H
#define BOOTLAB_RANDOM_ROW_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct random_row {
	int (*draw)(void *bytes, size_t size, void **error);
};

/* 0, or -ENOTSUP with one line in `message`. */
int random_row_open(char *message, size_t message_size, struct random_row *ret);

/* How many were drawn, as a file says it that is one line: by `instructions` at most. 0; -EINVAL for a file that is none of it. */
int random_row_read(FILE *file, uint64_t instructions, uint64_t *ret);

/* Draw `count` numbers of `size` bytes from this thread's row, 8 at most. 0, or -EIO where it gives none. */
int random_row_pass(const struct random_row *row, uint64_t count, size_t size);

#endif
