/* SPDX-License-Identifier: MIT */
/*
 * While a boot is learned the kernel reads little ahead: what it reads beside what was asked for cannot be told from it, and would be
 * read ahead for ever. Such a boot waits longer, once.
 */
#ifndef BOOTLAB_READAHEAD_NARROW_H
#define BOOTLAB_READAHEAD_NARROW_H

enum {
	NARROW_BYTES = 16 << 10, /* in the place of 128 KiB: a boot from a turning disk takes a third longer */
	NARROWEST_BYTES = 0,     /* each page alone, for a boot that nobody waits for: two and a half times as long */
};

/*
 * Of the device of `root`, with its way before in sectors of 512 bytes, 0 where that was no more. 0 or -errno. A process stays that
 * takes it back after `longest_s`, should the goal never come; it holds nothing else that is open here.
 */
int narrow_begin(int root, long bytes, unsigned longest_s, unsigned long *ret_before);

/* Take it back, unless somebody else has changed it since; `before` 0: nothing was changed. */
void narrow_end(int root, unsigned long before);

#endif
