/* SPDX-License-Identifier: MIT */
/* A text that is kept as a file and is whole or is none: what was cut short or changed is known before it is looked at. */
#ifndef BOOTLAB_READAHEAD_STORE_H
#define BOOTLAB_READAHEAD_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/text.h"

/* The rest behind the first line, if that says what is there; else false, and in `ret_why` what it is or does. */
bool store_open(const char *magic, size_t most, const char *text, size_t size, struct slice *ret, const char **ret_why);

/* `rest` behind such a line, which the caller frees. 0 or -ENOMEM. */
int store_seal(const char *magic, const char *rest, size_t size, char **ret, size_t *ret_size);

/* The file, to be freed; NULL with errno. Of a regular file of such a size alone. */
char *store_read(const char *name, size_t most, size_t *ret_size);

/* As a whole or not at all, and on the disk before it has its name; its folder is made. 0 or -errno. */
int store_write(const char *name, const char *text, size_t size);

/* The next word of a line, as a number from `least` to `most`; false when it is none. */
bool store_number(struct slice *rest, int64_t least, int64_t most, int64_t *ret);

#endif
