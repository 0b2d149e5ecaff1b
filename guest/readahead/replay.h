/* SPDX-License-Identifier: MIT */
/* Reads ahead what a pack lists. */
#ifndef BOOTLAB_READAHEAD_REPLAY_H
#define BOOTLAB_READAHEAD_REPLAY_H

#include "pack.h"

struct replay_options {
	int root;           /* the root's folder, open */
	enum order order;   /* not none */
	unsigned in_flight; /* reads that the disk is given at once */
	int64_t first;      /* bytes of files that init itself needs: they are read before all others */
	int64_t bin;        /* bytes of the others that are put in order together; 0: all of them */
	int gate;           /* closed when those are there; -1: nobody waits for them */
	bool (*go_on)(void *context, int64_t bytes); /* asked ahead of each read, with what was read so far; NULL: always */
	void *context;
};

struct replayed {
	int64_t bytes;
	size_t ranges, files, skipped; /* files that are not there any more, or are no files */
	bool memory_short;             /* and so the rest was left out */
	bool stopped;                  /* as go_on said */
};

/* 0 or -errno. */
int replay(const struct pack *pack, const struct replay_options *options, struct replayed *ret);

/* The block device that the file system of `root` is on, opened for reading, or -errno. */
int root_device_open(int root);

#endif
