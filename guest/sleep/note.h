/* SPDX-License-Identifier: MIT */
/*
 * What a machine leaves beside its image as it hibernates, in the last blocks of the swap device, behind the swap area: which
 * kernel it is, and how each mounted file system looked then. Before the image is taken up these have to be as they were.
 *
 *   bootlab-hibernation 1
 *   kernel RELEASE VERSION
 *   card HASH             of a board: what its card boots (board.h)
 *   device PATH CRC       CRC-32 of the first 4 KiB of a device that is mounted, 8 hexadecimal digits; one line each
 *   crc HEX               CRC-32 of all bytes above; the last line
 *
 * and zeros, in one block of 4 KiB. Once the image is about to be taken up the block has one line in its place,
 *
 *   bootlab-hibernation taken
 *
 * which is flushed: the kernel takes the image's signature away, but flushes nothing, so after a power cut the image may be there
 * again, over file systems that have been written to since and whose stamps are the same. The block behind it has random bytes,
 * which the kernel that takes the image up leaves for the machine that goes on: memory that is restored every morning would draw
 * the same numbers every morning.
 */
#ifndef BOOTLAB_SLEEP_NOTE_H
#define BOOTLAB_SLEEP_NOTE_H

#include <stddef.h>
#include <stdint.h>

#include "clone/stamps.h"

enum { NOTE_SIZE = 4096, KERNEL_MAX = 200, REFUSAL_MAX = 160 };

/* "RELEASE VERSION" of the kernel that runs. */
void note_kernel(char ret[KERNEL_MAX]);

/*
 * Whether a note may be written at `at` of a device that begins with `first`. 0; -EINVAL: there is no swap area on it, and something
 * else perhaps that a note would be written over; -ENOSPC: its swap area is in the way.
 */
int note_find_room(const char first[NOTE_SIZE], uint64_t at);

/* 0; -ENOSPC: there are more file systems than lines. */
int note_write(const char *kernel, const struct stamps *stamps, char ret[NOTE_SIZE]);

/* Say that the image is taken. */
void note_take(char ret[NOTE_SIZE]);

/*
 * 0 where this machine may take up the image that the note is beside; else the reason, and what `stamp` said of a device that it
 * cannot read, or -1. `stamp` reads the first 4 KiB of a device, 0 or -errno.
 */
int note_check(const char note[NOTE_SIZE], const char *kernel, int (*stamp)(const char *device, char *ret), char ret[REFUSAL_MAX]);

#endif
