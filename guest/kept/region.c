/* SPDX-License-Identifier: MIT */
/* Finds the region among the pmem devices, and reads, writes and fills it past the page cache. */
#include "region.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/files.h"

enum { PMEM_MAX = 16, CHUNK = 256 << 10, SECTOR = 512 };

/* O_DIRECT wants what it reads into to begin at a block. */
static char chunk[CHUNK] __attribute__((aligned(BLOCK)));

/* The number in a small file; false: it cannot be read. */
static bool read_number(const char *path, uint64_t *ret)
{
	char text[32] = "", *end;

	if (file_read(path, text, sizeof text - 1) <= 0)
		return false;
	*ret = strtoull(text, &end, 0);
	return end != text;
}

int region_find(const struct plan *plan, char ret[REGION_PATH])
{
	/* The number of a pmem device is the order in which it was probed, and says nothing. */
	for (int i = 0; i < PMEM_MAX; i++) {
		char path[64];
		uint64_t start, sectors;

		snprintf(path, sizeof path, "/sys/block/pmem%d/device/resource", i);
		if (!read_number(path, &start) || start != plan->start)
			continue;
		snprintf(path, sizeof path, "/sys/block/pmem%d/size", i);
		if (!read_number(path, &sectors) || sectors * SECTOR != plan->size)
			return -EINVAL;
		snprintf(ret, REGION_PATH, "/dev/pmem%d", i);
		return 0;
	}
	return -ENODEV;
}

static int open_device(const char *device, int flags)
{
	int fd = open(device, flags | O_DIRECT | O_CLOEXEC);

	if (fd < 0 && errno == EINVAL)
		fd = open(device, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* All of `size` bytes at `offset`: 0 or -errno. */
static int transfer(int fd, size_t size, off_t offset, bool write)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = write ? pwrite(fd, chunk + done, size - done, offset + (off_t)done) :
				    pread(fd, chunk + done, size - done, offset + (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENODATA;
		done += (size_t)n;
	}
	return 0;
}

static off_t header_at(const struct plan *plan)
{
	return (off_t)(plan->size - HEADER_SIZE);
}

int region_read_header(const char *device, const struct plan *plan, struct header *ret)
{
	int fd = open_device(device, O_RDONLY), r;

	if (fd < 0)
		return fd;
	r = transfer(fd, HEADER_SIZE, header_at(plan), false);
	close(fd);
	return r ? r : header_read(chunk, ret);
}

int region_write_header(const char *device, const struct plan *plan, const struct header *header)
{
	int fd = open_device(device, O_WRONLY), r;

	if (fd < 0)
		return fd;
	header_write(header, chunk);
	r = transfer(fd, HEADER_SIZE, header_at(plan), true);
	if (!r && fsync(fd))
		r = -errno;
	close(fd);
	return r;
}

static size_t next_piece(uint64_t left)
{
	return left < CHUNK ? (size_t)left : CHUNK;
}

static int copy(int from, uint64_t offset, int to, uint64_t bytes, void (*half)(void))
{
	for (uint64_t at = 0; at < bytes;) {
		size_t size = next_piece(bytes - at);
		int r = transfer(from, size, (off_t)(offset + at), false);

		if (r || (r = transfer(to, size, (off_t)at, true)))
			return r;
		if (at < bytes / 2 && at + size >= bytes / 2)
			half();
		at += size;
	}
	return fsync(to) ? -errno : 0;
}

int region_fill(const char *device, const char *disk, const struct plan *plan, void (*half)(void))
{
	int from = open_device(disk, O_RDONLY), to = from < 0 ? from : open_device(device, O_WRONLY);
	int r = to < 0 ? to : copy(from, plan->copied_from, to, plan->bytes, half);

	if (to >= 0)
		close(to);
	if (from >= 0)
		close(from);
	return r;
}

int region_read_all(const char *device, uint64_t bytes)
{
	int fd = open_device(device, O_RDONLY), r = 0;

	if (fd < 0)
		return fd;
	for (uint64_t at = 0; !r && at < bytes; at += next_piece(bytes - at))
		r = transfer(fd, next_piece(bytes - at), (off_t)at, false);
	close(fd);
	return r;
}
