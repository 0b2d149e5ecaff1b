/* SPDX-License-Identifier: MIT */
/* A drive by which the host says who this guest is, under a VMM that has no fw_cfg (Firecracker): its text and nothing else. */
#ifndef BOOTLAB_CLONE_DRIVE_H
#define BOOTLAB_CLONE_DRIVE_H

#include <stddef.h>

enum { DRIVE_NAME = 64 };

/* Of /proc/partitions: the device of one KiB that a line is of. 0; -ENOENT: of another size, or no line of a device. */
int drive_line_read(const char *line, unsigned *major, unsigned *minor, char ret[DRIVE_NAME]);

/* Find the drive among those of one KiB, by how its text begins. A descriptor, or -ENOENT. */
int drive_open(void);

/* What it says now, read past every cache; `size` is IDENTITY_SIZE. 0 or -errno. */
int drive_read(int fd, char *ret, size_t size);

#endif
