/* SPDX-License-Identifier: MIT */
/*
 * What the sessions of this machine's users begin with: how often a file was opened in a session of each, of which the older count
 * less. So a file that somebody gave up is forgotten in some sessions, and one that was opened once by chance is not read for long.
 */
#ifndef BOOTLAB_PRELOAD_HABITS_H
#define BOOTLAB_PRELOAD_HABITS_H

#include "readahead/pack.h"

#define HABITS_MAGIC "bootlab-preload 1 "

enum {
	HABITS_BYTES = 4 << 20,
	HABITS_USERS = 8,
	HABITS_FILES = 4096,
	HABITS_RANGES = 1 << 15,
	HABITS_PATHS = 2 << 20, /* bytes of all paths: beside them each range and weight, at its longest, fits into HABITS_BYTES */
	HABITS_NAME = 64,
	/* A session counts so much, and with each later one a quarter less: of ten sessions the last three are more than half. */
	HABITS_ONE = 1000,
	HABITS_KEPT_OF_FOUR = 3,
	/* A file is read ahead if that many of a thousand sessions are expected to open it. */
	HABITS_EXPECTED = 300,
};

struct habits {
	struct pack pack; /* root, packages, kernel; files and ranges. Its goal, order and trials say nothing here */
	char users[HABITS_USERS][HABITS_NAME];
	int64_t sessions[HABITS_USERS];               /* of each user, by weight */
	int64_t (*together)[HABITS_USERS];            /* of each file with the sessions of each user, by weight */
	size_t n_users;
	size_t left_out;                              /* files and ranges of the last session that there was no room for */
	size_t path_bytes;
};

/* 0, -ENOMEM, or -EINVAL with what is wrong in `ret_why`. Free what is read even so. */
int habits_read(struct habits *habits, const char *text, size_t size, const char **ret_why);

/* The text, which the caller frees. 0, -ENOMEM or -E2BIG. */
int habits_text(const struct habits *habits, char **ret, size_t *ret_size);

/*
 * A session of `user` has begun: what came from the disk, and all files that it opened, by path and sorted, whether or not they were in
 * memory. With `opened` NULL nobody knows: then what was to be read ahead counts as opened. 0 or -ENOMEM.
 */
int habits_learn(struct habits *habits, const char *user, const struct pack *read, char *const *opened, size_t n_opened);

/* How many of a thousand of the next sessions will open a file, whoever logs in; of a user where one is named. */
int64_t habits_expect(const struct habits *habits, size_t file, const char *user);

/* The files that the next session is expected to open, with their ranges and the file system's own. 0 or -ENOMEM. */
int habits_pick(const struct habits *habits, struct pack *ret);

void habits_free(struct habits *habits);

#endif
