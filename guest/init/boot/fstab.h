/* SPDX-License-Identifier: MIT */
/*
 * /etc/fstab: the root as it asks to be, local file systems that are mounted at boot, and swap. Devices are waited for, and checked
 * first where the line asks for that and the tool is there. No network file systems: those are for units of the system.
 */
#ifndef BOOTLAB_INIT_FSTAB_H
#define BOOTLAB_INIT_FSTAB_H

#include <stdbool.h>
#include <stddef.h>

struct fstab_line {
	const char *device, *folder, *type, *options;
	size_t n_words;
	bool is_checked; /* its last field asks for fsck */
};

/* In a process of its own, which may wait: mount all; the first error, after the rest has been tried. A file that is not there is no error. */
int fstab_mount(const char *path);

int fstab_mount_line(const struct fstab_line *line);

#endif
