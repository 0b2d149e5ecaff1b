/* SPDX-License-Identifier: MIT */
/*
 * The metadata first, for every file that is opened needs it; then what init itself needs; then the rest. The disk has only a few
 * reads at once: what the boot asks for meanwhile does not stand behind all of them.
 */
#include "replay.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { SMALLEST_STEP = 128 << 10, LARGEST_STEP = 1 << 20, MOST_IN_FLIGHT = 64 };

/* What lies between two pieces costs a turning disk less than a second way to them. */
static const int64_t gap = 64 << 10;

struct reader {
	const struct pack *pack;
	const struct replay_options *options;
	struct replayed *done;
	int *descriptors; /* of each file; -1: not open, -2: not to be had */
	bool *counted;
	int device;
	dev_t root_device;
	int64_t step, most;
	struct {
		int descriptor;
		int64_t last;
	} under_way[MOST_IN_FLIGHT];
	unsigned oldest, n_under_way;
};

int root_device_open(int root)
{
	static const char node[] = "/dev/.bootlab-readahead";
	struct stat status;
	int descriptor;

	if (fstat(root, &status))
		return -errno;
	/* The name that udev will give it is not there yet. */
	unlink(node);
	if (mknod(node, S_IFBLK | 0400, status.st_dev))
		return -errno;
	descriptor = open(node, O_RDONLY | O_CLOEXEC);
	if (descriptor < 0)
		descriptor = -errno;
	unlink(node);
	return descriptor;
}

/* What one call may ask for: the kernel cuts off the rest without a word. */
static int64_t step_of(int device)
{
	unsigned short sectors = 0;
	long ahead = 0;
	int64_t step = SMALLEST_STEP;

	if (device >= 0 && !ioctl(device, BLKSECTGET, &sectors) && (int64_t)sectors * 512 > step)
		step = (int64_t)sectors * 512;
	if (device >= 0 && !ioctl(device, BLKRAGET, &ahead) && (int64_t)ahead * 512 > step)
		step = (int64_t)ahead * 512;
	return step < LARGEST_STEP ? step & -4096 : LARGEST_STEP;
}

static void wait_for_oldest(struct reader *reader)
{
	char byte;
	unsigned oldest = reader->oldest;

	if (pread(reader->under_way[oldest].descriptor, &byte, 1, reader->under_way[oldest].last) < 0)
		reader->done->skipped += errno == EIO;
	reader->oldest = (oldest + 1) % reader->options->in_flight;
	reader->n_under_way--;
}

static void drain(struct reader *reader)
{
	while (reader->n_under_way)
		wait_for_oldest(reader);
}

/* The descriptor, or -2. Never a device, a pipe, or what lies on another file system. */
static int file_open(struct reader *reader, uint32_t file)
{
	const char *path = reader->pack->files[file];
	struct stat status;
	int descriptor;

	if (reader->descriptors[file] != -1)
		return reader->descriptors[file];
	if (fstatat(reader->options->root, path, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode) ||
	    status.st_dev != reader->root_device)
		return reader->descriptors[file] = -2;
	descriptor = openat(reader->options->root, path, O_RDONLY | O_NOATIME | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (descriptor < 0 && errno == EMFILE) {
		drain(reader);
		for (size_t i = 0; i < reader->pack->n_files; i++)
			if (reader->descriptors[i] >= 0) {
				close(reader->descriptors[i]);
				reader->descriptors[i] = -1;
			}
		descriptor = openat(reader->options->root, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	}
	return reader->descriptors[file] = descriptor < 0 ? -2 : descriptor;
}

static void range_ask(struct reader *reader, const struct range *range)
{
	int descriptor = range->file == PACK_DEVICE ? reader->device : file_open(reader, range->file);

	if (range->file != PACK_DEVICE && !reader->counted[range->file]) {
		reader->counted[range->file] = true;
		*(descriptor < 0 ? &reader->done->skipped : &reader->done->files) += 1;
	}
	if (descriptor < 0)
		return;
	for (int64_t at = 0; at < range->length; at += reader->step) {
		int64_t size = range->length - at < reader->step ? range->length - at : reader->step;

		if (reader->done->bytes + size > reader->most) {
			reader->done->memory_short = true;
			return;
		}
		if (reader->n_under_way == reader->options->in_flight)
			wait_for_oldest(reader);
		if (reader->options->go_on && !reader->options->go_on(reader->options->context, reader->done->bytes)) {
			reader->done->stopped = true;
			return;
		}
		if (readahead(descriptor, range->offset + at, (size_t)size))
			return;
		unsigned next = (reader->oldest + reader->n_under_way++) % reader->options->in_flight;
		reader->under_way[next].descriptor = descriptor;
		reader->under_way[next].last = range->offset + at + size - 1;
		reader->done->bytes += size;
	}
	reader->done->ranges++;
}

static int64_t place_of(const struct range *range)
{
	return range->file == PACK_DEVICE ? range->offset : range->physical;
}

static int by_place(const void *a, const void *b)
{
	int64_t one = place_of(a), other = place_of(b);

	return (one > other) - (one < other);
}

/* Whether `range` reaches over a gap to the end of the next, which then lies in it. */
static bool reach(struct range *range, const struct range *next, int64_t longest)
{
	int64_t way = next->offset - range->offset, end = next->offset + next->length;

	if (next->file != range->file || place_of(next) - place_of(range) != way || way - range->length > gap ||
	    end - range->offset > longest)
		return false;
	if (way + next->length > range->length)
		range->length = way + next->length;
	return true;
}

static void ask_all(struct reader *reader, struct range *ranges, size_t n)
{
	if (reader->options->order == ORDER_BLOCK && n > 0)
		qsort(ranges, n, sizeof *ranges, by_place);
	for (size_t i = 0; i < n && !reader->done->memory_short && !reader->done->stopped; i++) {
		struct range range = ranges[i];

		while (reader->options->order == ORDER_BLOCK && i + 1 < n && reach(&range, &ranges[i + 1], reader->step))
			i++;
		range_ask(reader, &range);
	}
}

static void read_all(struct reader *reader, struct range *ranges)
{
	const struct pack *pack = reader->pack;
	size_t metadata = 0, first, n;
	int64_t bytes = 0;

	for (size_t i = 0; i < pack->n_ranges; i++)
		if (pack->ranges[i].file == PACK_DEVICE)
			ranges[metadata++] = pack->ranges[i];
	n = metadata;
	for (size_t i = 0; i < pack->n_ranges; i++)
		if (pack->ranges[i].file != PACK_DEVICE)
			ranges[n++] = pack->ranges[i];
	for (first = metadata; first < n && bytes < reader->options->first; first++)
		bytes += ranges[first].length;
	ask_all(reader, ranges, metadata);
	ask_all(reader, ranges + metadata, first - metadata);
	if (reader->options->gate >= 0) {
		drain(reader);
		close(reader->options->gate);
	}
	while (first < n) {
		size_t end = first;

		for (bytes = 0; end < n && (bytes == 0 || !reader->options->bin || bytes < reader->options->bin); end++)
			bytes += ranges[end].length;
		ask_all(reader, ranges + first, end - first);
		first = end;
	}
	drain(reader);
}

int replay(const struct pack *pack, const struct replay_options *options, struct replayed *ret)
{
	struct reader reader = { .pack = pack, .options = options, .done = ret };
	struct range *ranges = reallocarray(NULL, pack->n_ranges + 1, sizeof *ranges);
	struct rlimit limit;
	struct sysinfo memory;
	struct stat status;
	int r = 0;

	*ret = (struct replayed){ 0 };
	reader.descriptors = reallocarray(NULL, pack->n_files + 1, sizeof *reader.descriptors);
	reader.counted = calloc(pack->n_files + 1, sizeof *reader.counted);
	if (!ranges || !reader.descriptors || !reader.counted) {
		r = -ENOMEM;
		goto out;
	}
	if (fstat(options->root, &status) || sysinfo(&memory)) {
		r = -errno;
		goto out;
	}
	memset(reader.descriptors, 0xff, pack->n_files * sizeof *reader.descriptors);
	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	reader.root_device = status.st_dev;
	reader.most = (int64_t)(memory.freeram / 2) * memory.mem_unit;
	reader.device = root_device_open(options->root);
	/* What a card has begun it ends first: what the boot asks for meanwhile waits for no more than a few of the smallest. */
	reader.step = options->order == ORDER_NEED ? SMALLEST_STEP : step_of(reader.device);
	read_all(&reader, ranges);
	for (size_t i = 0; i < pack->n_files; i++)
		if (reader.descriptors[i] >= 0)
			close(reader.descriptors[i]);
	if (reader.device >= 0)
		close(reader.device);
out:
	free(ranges);
	free(reader.descriptors);
	free(reader.counted);
	return r;
}
