/* SPDX-License-Identifier: MIT */
/* Which files are opened from now on, by fanotify: also those that lie in memory, which no trace of the disk shows. */
#ifndef BOOTLAB_PRELOAD_OPENED_H
#define BOOTLAB_PRELOAD_OPENED_H

#include <stddef.h>

struct opened {
	char **paths; /* relative to the root, sorted, each once */
	size_t n;
	size_t lost; /* the kernel had no room to note some */
};

/* A descriptor, or -errno: this kernel cannot. The kernel keeps the list; nobody has to run meanwhile. */
int opened_begin(const char *root);

/* What was opened on that file system, and the end of it. 0 or -ENOMEM. Free it even so. */
int opened_end(int descriptor, const char *root, struct opened *ret);

void opened_free(struct opened *opened);

#endif
