/* SPDX-License-Identifier: MIT */
/* Joins pieces of a file that lie close together: a disk reads a small gap sooner than it takes another request. */
#ifndef BOOTLAB_READAHEAD_JOIN_H
#define BOOTLAB_READAHEAD_JOIN_H

#include "pack.h"

enum {
	JOIN_GAP = 16 << 10,      /* an SD card of class A1 reads so much in the time of one more request (25 MB/s, 1,500 a second) */
	JOIN_LENGTH = 128 << 10, /* no longer by joining: what comes late in it would be read before what is needed first elsewhere */
};

/*
 * Join them in place: each keeps the turn of its piece that came first. Only what lies on the disk as it lies in the file is joined.
 * Returns how many are left; all of them where there is no memory to do it.
 */
size_t ranges_join(struct range *ranges, size_t n);

#endif
