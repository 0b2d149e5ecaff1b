/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flash and cloud volumes: a serial part of each command, a latency in one of several channels, a bus, and a ceiling of rates. */
#include "flash.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The ceiling is that of a bucket which holds one operation: no credit is saved up. */
static int64_t when_allowed(struct disk_flash *flash, const int64_t *figures, const struct disk_request *request, int64_t t_ns)
{
	int64_t bytes = (int64_t)request->sectors * 512, operations = 1;
	int64_t start;

	if (!figures[DISK_IOPS])
		return t_ns;
	if (figures[DISK_IO_BYTES] && bytes > figures[DISK_IO_BYTES])
		operations = (bytes + figures[DISK_IO_BYTES] - 1) / figures[DISK_IO_BYTES];
	start = later(t_ns, flash->iops_free_ns);
	flash->iops_free_ns = start + operations * 1000000000 / figures[DISK_IOPS];
	return start;
}

/* A write makes a block the volume's own as well. */
static bool is_first_touch(struct disk_flash *flash, const int64_t *figures, const struct disk_request *request)
{
	uint64_t size = (uint64_t)figures[DISK_TOUCH_BYTES] / 512, from, to;
	bool first = false;

	if (!flash->touched || !request->sectors)
		return false;
	from = request->sector / size;
	to = (request->sector + request->sectors - 1) / size;
	for (uint64_t block = from; block <= to; block++) {
		if (!(flash->touched[block / 8] & 1 << block % 8))
			first = true;
		flash->touched[block / 8] |= (uint8_t)(1 << block % 8);
	}
	return first && request->operation == DISK_READ;
}

size_t disk_flash_touched_size(const struct disk_figures *figures)
{
	if (!figures->of[DISK_FIRST_TOUCH_NS])
		return 0;
	return (size_t)(figures->sectors * 512 / (uint64_t)figures->of[DISK_TOUCH_BYTES] / 8 + 1);
}

int disk_flash_init(const struct disk_figures *figures, struct disk_flash *ret)
{
	*ret = (struct disk_flash){ .touched = NULL };
	if (!figures->of[DISK_FIRST_TOUCH_NS])
		return 0;
	ret->touched = calloc(1, disk_flash_touched_size(figures));
	return ret->touched ? 0 : -ENOMEM;
}

void disk_flash_deinit(struct disk_flash *flash)
{
	free(flash->touched);
	flash->touched = NULL;
}

int64_t disk_flash_done(struct disk_flash *flash, const struct disk_figures *all, const struct disk_request *request, int64_t t_ns)
{
	const int64_t *figures = all->of;
	int64_t channels = figures[DISK_CHANNELS], depth = figures[DISK_DEPTH], start, end, *channel = flash->channel_free_ns;

	start = later(when_allowed(flash, figures, request, t_ns), flash->controller_free_ns) + figures[DISK_COMMAND_NS];
	flash->controller_free_ns = start;
	if (request->operation == DISK_FLUSH)
		return start + figures[DISK_FLUSH_NS];
	if (!channels || channels > DISK_CHANNELS_MAX)
		channels = depth && depth < DISK_CHANNELS_MAX ? depth : DISK_CHANNELS_MAX;
	for (int64_t i = 1; i < channels; i++)
		if (flash->channel_free_ns[i] < *channel)
			channel = &flash->channel_free_ns[i];
	if (request->operation == DISK_READ) {
		int64_t latency = figures[DISK_READ_NS];

		if (is_first_touch(flash, figures, request))
			latency += figures[DISK_FIRST_TOUCH_NS];
		*channel = later(start, *channel) + latency;
		end = later(*channel, flash->bus_free_ns) +
		      disk_transfer_ns((uint64_t)request->sectors * 512, figures[DISK_READ_BYTES_S]);
		flash->bus_free_ns = end;
		return end;
	}
	is_first_touch(flash, figures, request);
	end = later(start, flash->bus_free_ns) + disk_transfer_ns((uint64_t)request->sectors * 512, figures[DISK_WRITE_BYTES_S]);
	flash->bus_free_ns = end;
	*channel = later(end, *channel) + figures[DISK_WRITE_NS];
	return *channel;
}
