/* SPDX-License-Identifier: MIT */
/*
 * What an initramfs says of the root in kept RAM. Its writer is bootlab/build/root/kept_region.py:
 *
 *   bootlab-kept 1
 *   region START SIZE     physical address and bytes of the region, decimal
 *   image BYTES           of the image of the root, whole blocks of 4 KiB
 *   bytes BYTES           image and dm-verity tree behind it; as much of the disk is copied into the region
 *   copied_from BYTES     where on the disk that begins: 0, or behind another image, which is the whole root. Then the region has
 *                         some of its files, and is mounted over it
 *   filesystem NAME
 *   verify verity | all | header
 *   dax 0 | 1             whether the files of the region are mapped where they lie, and not copied into the page cache
 *   changes BYTES         of memory for what is written over the root; 0: it is read-only
 *   store DEVICE          the disk to which that is written back (store.h); - where there is none
 *   root HASH             of the tree (sha256): the only image that is taken
 *   salt HEX
 */
#ifndef BOOTLAB_KEPT_PLAN_H
#define BOOTLAB_KEPT_PLAN_H

#include <stdint.h>

#include "header.h"

enum { PLAN_SIZE = 4096, BLOCK = 4096, STORE_MAX = 31 };

enum verify { VERIFY_BLOCKS, VERIFY_ALL, VERIFY_HEADER };

struct plan {
	uint64_t start, size, image, bytes, copied_from;
	char filesystem[16];
	enum verify verify;
	unsigned dax;
	uint64_t changes;
	char store[STORE_MAX + 1];
	char root[HASH_DIGITS + 1], salt[HASH_DIGITS + 1];
};

/* 0, -EBADMSG for a text that is none. `text` ends with a NUL. */
int plan_read(const char *text, struct plan *ret);

#endif
