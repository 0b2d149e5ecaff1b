/* SPDX-License-Identifier: MIT */
/*
 * /etc/fstab: the root as it asks to be, and local file systems that are mounted at boot. No network file systems, no swap, no
 * check: those are for units of the system.
 */
#ifndef BOOTLAB_INIT_FSTAB_H
#define BOOTLAB_INIT_FSTAB_H

#include <stddef.h>

struct fstab_line {
	const char *device, *folder, *type, *options;
	size_t n_words;
};

/* Mount all; the first error, after the rest has been tried. A file that is not there is no error. */
int fstab_mount(const char *path);

int fstab_mount_line(const struct fstab_line *line);

#endif
