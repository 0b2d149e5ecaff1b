/* SPDX-License-Identifier: MIT */
/*
 * The stamp of a file system: the first 4 KiB of its device, read past every cache. In them are the superblocks of ext2 to ext4,
 * which change with each mount for writing, of erofs and squashfs, which change with their image, and of FAT32 how much is free. A
 * convention and no proof: whoever writes elsewhere on the device, and leaves these alone, is not seen; nor is anybody on a file
 * system that has nothing there which changes (FAT16, f2fs, btrfs).
 */
#ifndef BOOTLAB_CLONE_STAMPS_H
#define BOOTLAB_CLONE_STAMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { STAMP_SIZE = 4096, STAMPS_MAX = 16, STAMP_PATH = 128 };

struct stamp {
	int fd;
	char source[STAMP_PATH], mounted_at[STAMP_PATH];
	char *bytes; /* STAMP_SIZE of them */
};

struct stamps {
	struct stamp all[STAMPS_MAX];
	size_t n;
	size_t left_out; /* file systems on devices that there was no room for, or that cannot be read */
};

/* Those of all that is mounted now and lies on a block device. Nothing is mounted, and nothing is written. */
void stamps_take(struct stamps *ret);

/* The first whose device has another stamp by now, or cannot be read; NULL: all are the same. */
const struct stamp *stamps_find_changed(const struct stamps *stamps);

/* Where a line of /proc/self/mountinfo says that a device is mounted; false: it says nothing that is of use. */
bool mount_line_read(const char *line, char source[STAMP_PATH], char mounted_at[STAMP_PATH]);

/* The number of the device that it says; false: it says none. */
bool mount_line_device(const char *line, dev_t *ret);

/* Where the device of a line of /proc/partitions is, if it is this one; false: it is of another, or no line of a device. */
bool partition_line_read(const char *line, dev_t device, char ret[STAMP_PATH]);

/* Whether what it mounts is named by a path, be that of use or too long. */
bool mount_line_has_device(const char *line);

#endif
