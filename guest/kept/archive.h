/* SPDX-License-Identifier: MIT */
/*
 * A folder with all that is below it as bytes in memory: what was written over a root. For each file, folders before what is in
 * them and names by byte, a struct of archive.c, its path, its extended attributes and its content. Kept are owners, modes, times,
 * devices (which an overlay's whiteouts are), links, and attributes but those by which an overlay finds its lower files again.
 */
#ifndef BOOTLAB_KEPT_ARCHIVE_H
#define BOOTLAB_KEPT_ARCHIVE_H

#include <stddef.h>

struct archive {
	char *bytes;
	size_t size, used;
};

/*
 * 0; -ENOSPC: it does not fit; -EAGAIN: something changed while it was read, so it would be of no one moment; -EMLINK: more files
 * with several names than are told apart; -E2BIG: more names in a folder than there is room for; -errno. What is written through a
 * mapping changes no time, and is not seen to change.
 */
int archive_pack(const char *folder, struct archive *ret);

/* Into a folder that is there, and empty. 0, -EBADMSG for bytes that are no archive, -errno. */
int archive_unpack(const struct archive *archive, const char *folder);

#endif
