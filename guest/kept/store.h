/* SPDX-License-Identifier: MIT */
/*
 * The disk on which the changes of a root are kept. In blocks of 4 KiB:
 *
 *   0                     trials: for each of two slots which generation was started from, and what became of that
 *   then twice            a slot: its header, and an archive behind it
 *
 * Headers and trials are text in their block's first sector, so that no cut of the power leaves half of one, and zeros:
 *
 *   bootlab-kept-changes 1            bootlab-kept-trials 1
 *   generation N                      slot 0 N none | try1 | try2 | try3 | passed
 *   root HASH                         slot 1 N ...
 *   bytes N                           crc HEX
 *   sum HEX
 *   crc HEX
 *
 * `try2`: two starts with it were begun since one became ready. `root`: of the image that they lie over. `sum`: CRC-32 of the archive. A slot is written archive first, then its header: until
 * that is whole, the other slot is the newest. Writer besides this one: bootlab/build/root/kept_changes.py, which spoils it.
 */
#ifndef BOOTLAB_KEPT_STORE_H
#define BOOTLAB_KEPT_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "header.h"

enum { SLOTS = 2, TRIAL_MAX = 7 };

/* `status`: 0; -ENODATA: nothing was ever there; -EBADMSG: damaged. */
struct slot {
	int status;
	uint64_t generation, bytes;
	uint32_t sum;
	char root[HASH_DIGITS + 1];
};

struct trial {
	uint64_t generation;
	char state[TRIAL_MAX + 1];
};

struct store {
	int fd;
	uint64_t room; /* of one archive, in whole blocks */
	struct slot slots[SLOTS];
	struct trial trials[SLOTS];
};

/* 0 or -errno; -ENOSPC: there is no room for two slots. */
int store_open(const char *path, struct store *ret);
void store_close(struct store *store);

/* Into whole blocks of room for it. 0, -EBADMSG: what is there has another sum; -errno. */
int store_load(const struct store *store, int slot, char *ret);

/*
 * Write an archive as the newest generation into a slot, with zeros behind it up to whole blocks; `half` is called once, half way.
 * 0 or -errno; the store's own view of the slot is then that of the disk.
 */
int store_save(struct store *store, int slot, const char *root, char *bytes, uint64_t size, void (*half)(void));

/* What became of the starts with a slot: "none", or as it was noted. */
const char *store_trial(const struct store *store, int slot);
int store_note(struct store *store, int slot, const char *state);

/* CRC-32 as of zlib. */
uint32_t sum_of(const char *bytes, uint64_t size);

#endif
