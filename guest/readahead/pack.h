/* SPDX-License-Identifier: MIT */
/*
 * A pack: what a boot read from its disk, in the order in which it needed it, and how the boots with it went. Text, one thing a
 * line; its first line has the length and the CRC of the rest, so what is cut or changed is known before it is looked at.
 */
#ifndef BOOTLAB_READAHEAD_PACK_H
#define BOOTLAB_READAHEAD_PACK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "trials.h"

#define PACK_MAGIC "bootlab-readahead 1 "
#define PACK_RECORD "bootlab-readahead record\n" /* instead of a pack: this image learns, and prints what it has learned */

enum { PACK_BYTES = 16 << 20, PACK_FILES = 1 << 16, PACK_RANGES = 1 << 20, PACK_PATH = 4095, PACK_NAME = 128 };

#define PACK_DEVICE UINT32_MAX     /* in `file`: bytes of the device itself, where the file system keeps its metadata */
#define PACK_END (INT64_C(1) << 50) /* no offset lies further */
#define PACK_LENGTH (INT64_C(1) << 30)

struct range {
	uint32_t file;
	int64_t offset, length;
	int64_t physical; /* on the device; -1: not known */
};

struct pack {
	int64_t root;     /* of the file system, as statfs tells it */
	int64_t packages; /* what was installed */
	int64_t learned_s;
	char kernel[PACK_NAME], goal[PACK_NAME];
	enum order order; /* of the next boot */
	struct trials trials;
	char **files; /* relative to the root */
	struct range *ranges;
	size_t n_files, n_ranges;
};

/* 0, -ENOMEM, or -EINVAL with what is wrong in `ret_why`. Nothing is kept of `text`; free what is read even so. */
int pack_read(struct pack *pack, const char *text, size_t size, const char **ret_why);

/* The number of the file, or a range at the end; -ENOMEM, -E2BIG when there are too many, -EINVAL for what no pack may have. */
int pack_add_file(struct pack *pack, const char *path, size_t size, uint32_t *ret);
int pack_add_range(struct pack *pack, const struct range *range);

/* The text of a pack, which the caller frees. 0 or -ENOMEM. */
int pack_text(const struct pack *pack, char **ret, size_t *ret_size);

void pack_free(struct pack *pack);

#endif
