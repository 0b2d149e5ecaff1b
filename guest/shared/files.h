/* SPDX-License-Identifier: MIT */
/* Small files and folders, read without a heap and without ever waiting for a FIFO or a terminal. */
#ifndef BOOTLAB_SHARED_FILES_H
#define BOOTLAB_SHARED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "arena.h"

enum { FILE_BYTES = 1 << 16 };

/* The number of bytes read, at most `size`; -errno. */
ssize_t file_read(const char *path, char *ret, size_t size);

/* 0 or -errno. Nothing is created. */
int file_write(const char *path, const char *text);

/* The same, of a path below the folder that is open as `folder`. */
ssize_t file_read_at(int folder, const char *path, char *ret, size_t size);
int file_write_at(int folder, const char *path, const char *text);

bool file_exists(const char *path);

struct listing {
	const char **names;
	size_t n;
	size_t left_out; /* that there was no room for */
	bool may_have_links;
};

/* By byte. The C library's own sort takes as many bytes of the program as a reader of unit files. */
void names_sort(const char **names, size_t n);

/* The names in a folder, without . and .., sorted by byte, in the arena. 0 or -errno. */
int folder_list(const char *path, struct arena *arena, struct listing *ret);

#endif
