/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which marks a row of looks at the screen makes, and which keys are due. No QEMU headers. */
#ifndef BOOTLAB_WATCH_H
#define BOOTLAB_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "frame.h"
#include "records/disk_reads.h"
#include "records/writer.h"

/*
 * One look at the machine. `disk_requests`: what its disks were asked for so far; `reads`: what the guest has read of each by then;
 * `before`: what the last look saw.
 */
struct look {
	struct stamp at;
	uint64_t disk_requests;
	struct disk_count reads[COUNTED_DISKS_MAX];
	const struct frame *frame, *before;
	bool changed; /* `frame` is not as `before` */
};

struct mark_state {
	bool armed, reached;
	bool holds; /* what is waited for is so, since `since` */
	bool fresh; /* nothing was looked at since it was armed */
	struct stamp since;
	struct disk_count since_reads[COUNTED_DISKS_MAX]; /* what was read by then; less than 0 if another process read it */
	int64_t looked_ns; /* one more than the time of the last look that it was held against */
	uint32_t *picture; /* of SCREEN_PICTURED */
};

struct typing_state {
	bool armed;
	int64_t from_ns;
	size_t next; /* key */
};

struct watch {
	const struct config *config;
	struct mark_state *marks;
	struct typing_state *typings;
	bool looked; /* there was a look before */
	struct stamp latest;
	uint64_t latest_requests;
	uint64_t looks, changes;
	uint64_t hash; /* of each changed frame and when it was seen, the current look's among them */
	int shift; /* one instruction is 2**shift ns */
};

/* Watch for what the config asks for; its pictures are read from their files. 0, or -errno with one line in `message`. */
int watch_open(const struct config *config, int shift, char *message, size_t message_size, struct watch *ret);
void watch_deinit(struct watch *watch);

/* A mark of any kind was reached at `t_ns`. */
void watch_follow(struct watch *watch, const char *name, int64_t t_ns);

/*
 * Take a look: begin it, ask until there is no mark more, end it. watch_look() returns the first mark that it makes and is not
 * told yet, with the moment it is of in `ret`, and in `ret_reads` what was read by then. What follows from a mark, watch_follow()
 * among it, may come in between.
 */
void watch_begin_look(struct watch *watch, const struct look *look);
const struct screen_mark *watch_look(struct watch *watch, const struct look *look, struct stamp *ret,
				     const struct disk_count **ret_reads);
void watch_end_look(struct watch *watch, const struct look *look);

/* Have what was read counted from here on: `before` was read until now, by another process. */
void watch_count_reads_anew(struct watch *watch, const struct disk_count *before);

/* The next key that is due at `t_ns`, NULL for none; `ret_ends` is the typing of which it is the last to be pressed, or NULL. */
const struct screen_key *watch_key(struct watch *watch, int64_t t_ns, const struct screen_typing **ret_ends);

#endif
