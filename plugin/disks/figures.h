/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a modelled disk is made of, its figures by name; and what it is asked for. No QEMU headers. */
#ifndef BOOTLAB_FIGURES_H
#define BOOTLAB_FIGURES_H

#include <stddef.h>
#include <stdint.h>

enum disk_kind {
	DISK_FLASH, /* commands with a latency, channels and a bus: flash, and volumes of a cloud */
	DISK_HEAD, /* one head over turning platters, and a cache */
};

enum disk_operation { DISK_READ, DISK_WRITE, DISK_FLUSH };

/* In the order of the names in figures.c. 0 is "none" or "takes no time", where nothing else is said. */
enum disk_figure {
	DISK_DEPTH, /* commands that are in the device at once; 0: all */
	DISK_COMMAND_NS, /* of each command, one after the other */
	DISK_READ_NS, /* a read's time in its channel */
	DISK_WRITE_NS,
	DISK_FLUSH_NS, /* a flush, once there is nothing in front of it */
	DISK_READ_BYTES_S, /* the bus, 0: without limit */
	DISK_WRITE_BYTES_S,
	DISK_CHANNELS, /* 0: as many as commands */
	DISK_IOPS, /* ceiling, 0: none */
	DISK_IO_BYTES, /* a request counts once for each so many of its bytes against `iops`; 0: once */
	DISK_FIRST_TOUCH_NS, /* more for the first read of a block of a volume that is loaded from elsewhere as it is read */
	DISK_TOUCH_BYTES, /* such a block */
	DISK_TURN_NS, /* the platter's; from here on of DISK_HEAD */
	DISK_TRACK_SECTORS,
	DISK_TRACKS, /* of a surface */
	DISK_HEADS,
	DISK_TRACK_SEEK_NS, /* to the next track */
	DISK_AVERAGE_SEEK_NS, /* between two random tracks */
	DISK_CACHE_BYTES,
	DISK_SPAN_BYTES, /* the content is stretched over so much of the disk, block group by block group; 0: it is not */
	DISK_FIGURES,
};

struct disk_request {
	uint32_t id;
	enum disk_operation operation;
	uint64_t sector;
	uint32_t sectors;
	int64_t asked_ns, started_ns, done_ns;
};

struct disk_figures {
	int64_t of[DISK_FIGURES];
	uint64_t sectors; /* of the content */
};

/* The figure of this name, DISK_FIGURES for none. */
enum disk_figure disk_figure_find(const char *name);

/* 0, or -EINVAL with one line in `message` for figures that no disk of this kind has. */
int disk_figures_check(enum disk_kind kind, const struct disk_figures *figures, char *message, size_t message_size);

/* How long the bus takes for so many bytes. */
int64_t disk_transfer_ns(uint64_t bytes, int64_t bytes_s);

#endif
