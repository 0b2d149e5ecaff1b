/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of a model's figures, and which of them cannot be. */
#include "figures.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const figure_names[DISK_FIGURES] = {
	"depth",	"command_ns",	"read_ns",	"write_ns",	"flush_ns",	"read_bytes_s",	    "write_bytes_s",
	"channels",	"iops",		"io_bytes",	"first_touch_ns", "touch_bytes", "turn_ns",	    "track_sectors",
	"tracks",	"heads",	"track_seek_ns", "average_seek_ns", "cache_bytes", "span_bytes",
};

enum disk_figure disk_figure_find(const char *name)
{
	enum disk_figure figure = 0;

	while (figure < DISK_FIGURES && strcmp(figure_names[figure], name))
		figure++;
	return figure;
}

int64_t disk_transfer_ns(uint64_t bytes, int64_t bytes_s)
{
	return bytes_s ? (int64_t)(bytes * 1000000000 / (uint64_t)bytes_s) : 0;
}

static int refuse(char *message, size_t message_size, enum disk_figure figure, const char *what)
{
	snprintf(message, message_size, "%s %s", figure_names[figure], what);
	return -EINVAL;
}

int disk_figures_check(enum disk_kind kind, const struct disk_figures *figures, char *message, size_t message_size)
{
	static const enum disk_figure wanted[] = { DISK_TURN_NS, DISK_TRACK_SECTORS, DISK_TRACKS, DISK_HEADS, DISK_CACHE_BYTES };

	for (enum disk_figure i = 0; i < DISK_FIGURES; i++)
		if (figures->of[i] < 0)
			return refuse(message, message_size, i, "is less than nothing");
	if (kind == DISK_HEAD)
		for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
			if (!figures->of[wanted[i]])
				return refuse(message, message_size, wanted[i], "is missing: a disk with a head has it");
	if (figures->of[DISK_AVERAGE_SEEK_NS] < figures->of[DISK_TRACK_SEEK_NS])
		return refuse(message, message_size, DISK_AVERAGE_SEEK_NS, "is less than track_seek_ns");
	if (figures->of[DISK_FIRST_TOUCH_NS] && (figures->of[DISK_TOUCH_BYTES] < 512 || figures->of[DISK_TOUCH_BYTES] % 512))
		return refuse(message, message_size, DISK_TOUCH_BYTES, "is no multiple of a sector's 512");
	return 0;
}
