/* SPDX-License-Identifier: MIT */
/*
 * The last 4 KiB of a region of kept RAM: whether what lies in the region may be used, and which image it is.
 *
 *   bootlab-kept-header 1
 *   state valid | trying | filling | bad
 *   root HASH             the root of the image's dm-verity tree, 64 hexadecimal digits: the generation
 *   bytes N               image and tree, from the region's beginning
 *   crc HEX               CRC-32 of all bytes above, 8 hexadecimal digits; the last line
 *
 * and zeros. Writer besides this one: bootlab/build/root/kept_region.py.
 */
#ifndef BOOTLAB_KEPT_HEADER_H
#define BOOTLAB_KEPT_HEADER_H

#include <stddef.h>
#include <stdint.h>

enum { HEADER_SIZE = 4096, HASH_DIGITS = 64, STATE_MAX = 15 };

struct header {
	char state[STATE_MAX + 1];
	char root[HASH_DIGITS + 1];
	uint64_t bytes;
};

/* 0; -ENODATA: nothing but zeros is there; -EBADMSG: something else, or damaged. */
int header_read(const char block[HEADER_SIZE], struct header *ret);

/*
 * Whether a start out of a region with this header may be said to have become ready: 0; -ENOTRECOVERABLE: none was begun from that
 * image, and what lies there is not to be trusted for it.
 */
int header_expect_trial(const struct header *header, const char *root, uint64_t bytes);

void header_write(const struct header *header, char ret[HEADER_SIZE]);

/* CRC-32 as of zlib. */
uint32_t crc32_of(const char *bytes, size_t size);

#endif
