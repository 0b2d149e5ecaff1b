/* SPDX-License-Identifier: MIT */
/* Learns from the trace event filemap:mm_filemap_add_to_page_cache, in an instance of its own, or from mincore. */
#include "learn.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "join.h"
#include "replay.h"
#include "shared/files.h"

#define INSTANCES "instances"
#define KEPT "bootlab-readahead: keep "
#define EVENT "events/filemap/mm_filemap_add_to_page_cache/enable"

enum { PAGE = 4096, PATH_BYTES = PACK_PATH + 1, LONGEST_RUN = 512, DEEPEST = 64 };

/* Where tracefs is, and whether it was mounted for us: nobody's /sys is touched before it is there. */
struct tracing {
	const char *at, *name;
	bool mounted;
};

static int tracing_open(struct tracing *tracing)
{
	static const char *const folders[] = { "/sys/kernel/tracing", "/sys", "/mnt" };
	struct stat status;

	if (!stat("/sys/kernel/tracing/instances", &status)) {
		tracing->at = folders[0];
		return 0;
	}
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		if (!mount("tracefs", folders[i], "tracefs", MS_NOSUID | MS_NOEXEC | MS_NODEV, NULL)) {
			tracing->at = folders[i];
			tracing->mounted = true;
			return 0;
		}
	return -errno;
}

static void tracing_close(struct tracing *tracing)
{
	if (tracing->mounted)
		umount2(tracing->at, MNT_DETACH);
}

static int knob(const struct tracing *tracing, const char *name, const char *value)
{
	char path[256];

	snprintf(path, sizeof path, "%s/" INSTANCES "/%s/%s", tracing->at, tracing->name, name);
	return file_write(path, value);
}

static void tracing_remove(const struct tracing *tracing)
{
	char path[256];

	snprintf(path, sizeof path, "%s/" INSTANCES "/%s", tracing->at, tracing->name);
	rmdir(path);
}

void learn_drop(const char *name)
{
	struct tracing tracing = { .name = name };

	if (tracing_open(&tracing))
		return;
	tracing_remove(&tracing);
	tracing_close(&tracing);
}

int learn_begin(const char *name)
{
	struct tracing tracing = { .name = name };
	char path[256];
	int r = tracing_open(&tracing);

	if (r)
		return r;
	snprintf(path, sizeof path, "%s/" INSTANCES "/%s", tracing.at, name);
	if (mkdir(path, 0700) && errno != EEXIST)
		r = -errno;
	/* What came first is kept: it is needed first. */
	if (!r)
		r = knob(&tracing, "options/overwrite", "0");
	if (!r)
		r = knob(&tracing, "buffer_size_kb", "4096");
	if (!r)
		r = knob(&tracing, EVENT, "1");
	if (r)
		rmdir(path);
	tracing_close(&tracing);
	return r;
}

int learn_keep(const char *name, unsigned long number)
{
	struct tracing tracing = { .name = name };
	char text[64];
	int r = tracing_open(&tracing);

	if (r)
		return r;
	snprintf(text, sizeof text, KEPT "%lu", number);
	r = knob(&tracing, "trace_marker", text);
	tracing_close(&tracing);
	return r;
}

static bool field(const char *line, const char *name, int base, uint64_t *ret)
{
	const char *at = strstr(line, name);
	char *end;

	if (!at)
		return false;
	errno = 0;
	*ret = strtoull(at + strlen(name), &end, base);
	return end > at + strlen(name) && !errno;
}

unsigned long kept_in(const char *line)
{
	uint64_t number;

	return strstr(line, "tracing_mark_write: " KEPT) && field(line, KEPT, 10, &number) ? (unsigned long)number : 0;
}

static int pages_add(struct pages *pages, uint64_t inode, uint64_t index, uint64_t n)
{
	struct page_run *runs = pages->runs;

	/* The kernel notes pages one by one; several readers take turns. */
	for (size_t back = 1; back <= 8 && back <= pages->n; back++) {
		struct page_run *run = &runs[pages->n - back];

		if (run->inode == inode && run->index + run->n == index && run->n + n <= LONGEST_RUN) {
			run->n += n;
			return 0;
		}
	}
	if (pages->n >= PACK_RANGES)
		return -E2BIG;
	if (!(pages->n & (pages->n - 1))) {
		runs = reallocarray(runs, pages->n ? 2 * pages->n : 1, sizeof *runs);
		if (!runs)
			return -ENOMEM;
		pages->runs = runs;
	}
	runs[pages->n++] = (struct page_run){ inode, index, n };
	return 0;
}

int pages_add_line(struct pages *pages, const char *line, unsigned major, unsigned minor)
{
	const char *at = strstr(line, "mm_filemap_add_to_page_cache: dev ");
	uint64_t inode, index, order = 0, device = (uint64_t)major << 20 | minor;
	unsigned its_major, its_minor;

	if (!at || sscanf(at, "mm_filemap_add_to_page_cache: dev %u:%u", &its_major, &its_minor) != 2)
		return 0;
	if (!field(at, " ino ", 16, &inode) || !field(at, " ofs=", 10, &index))
		return 0;
	if (!field(at, " order=", 10, &order) || order > 9)
		order = 0;
	/* In bytes (include/trace/events/filemap.h). */
	index /= PAGE;
	if (its_major == major && its_minor == minor && inode != 0)
		return pages_add(pages, inode, index, (uint64_t)1 << order);
	/* The device's own pages belong to the file system of devices, where its number is the number of its file. */
	return its_major == 0 && inode == device ? pages_add(pages, 0, index, (uint64_t)1 << order) : 0;
}

/* Files that the walk is to find, by number. */
struct wanted {
	uint64_t inode;
	uint32_t file; /* in the pack; PACK_DEVICE: not found */
};

struct walk {
	struct pack *pack;
	struct wanted *wanted;
	size_t n_wanted, left;
	bool all; /* every file, without a list */
	dev_t device;
	int root;
	int (*each)(struct walk *walk, int folder, const char *name, uint32_t file);
	struct pages *pages;
	char path[PATH_BYTES];
};

static int by_inode(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

static struct wanted *wanted_find(const struct walk *walk, uint64_t inode)
{
	return bsearch(&inode, walk->wanted, walk->n_wanted, sizeof *walk->wanted, by_inode);
}

static int walk_file(struct walk *walk, int folder, const struct dirent *entry, size_t size)
{
	struct wanted *wanted = walk->all ? NULL : wanted_find(walk, entry->d_ino);
	uint32_t file;
	int r;

	if (!walk->all && (!wanted || wanted->file != PACK_DEVICE))
		return 0;
	if (walk->all)
		return walk->each(walk, folder, entry->d_name, 0);
	r = pack_add_file(walk->pack, walk->path, size, &file);
	if (r == -EINVAL)
		return 0; /* a name that no pack can have */
	if (!r) {
		wanted->file = file;
		walk->left--;
	}
	return r;
}

/* 0 or -errno; a folder that cannot be read has no files. */
static int walk_folder(struct walk *walk, int descriptor, size_t size, unsigned depth)
{
	DIR *folder = fdopendir(descriptor);
	struct dirent *entry;
	int r = 0;

	if (!folder) {
		close(descriptor);
		return 0;
	}
	while (!r && (walk->all || walk->left) && (entry = readdir(folder))) {
		size_t name = strlen(entry->d_name), whole = size + (size > 0) + name;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || whole >= PATH_BYTES)
			continue;
		if (size > 0)
			walk->path[size] = '/';
		memcpy(walk->path + whole - name, entry->d_name, name + 1);
		if (entry->d_type == DT_REG) {
			r = walk_file(walk, dirfd(folder), entry, whole);
		} else if (entry->d_type == DT_DIR && depth < DEEPEST) {
			struct stat status;
			int below = openat(dirfd(folder), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

			if (below >= 0 && !fstat(below, &status) && status.st_dev == walk->device)
				r = walk_folder(walk, below, whole, depth + 1);
			else if (below >= 0)
				close(below);
		}
	}
	closedir(folder);
	return r;
}

static int walk_root(struct walk *walk)
{
	struct stat status;
	int top = openat(walk->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (top < 0)
		return -errno;
	if (fstat(top, &status)) {
		close(top);
		return -errno;
	}
	walk->device = status.st_dev;
	return walk_folder(walk, top, 0, 0);
}

static int64_t place_on_disk(int descriptor, int64_t offset)
{
	union {
		struct fiemap head;
		char room[sizeof(struct fiemap) + sizeof(struct fiemap_extent)];
	} map = { .head = { .fm_start = (uint64_t)offset, .fm_length = PAGE, .fm_extent_count = 1 } };
	const struct fiemap_extent *extent = map.head.fm_extents;

	if (ioctl(descriptor, FS_IOC_FIEMAP, &map) || map.head.fm_mapped_extents != 1 ||
	    extent->fe_flags & (FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_DATA_INLINE))
		return -1;
	int64_t at = (int64_t)extent->fe_physical + (offset - (int64_t)extent->fe_logical);
	return at >= 0 && at <= PACK_END ? at : -1;
}

/* Pages and files -> ranges of the pack, in their order. */
static int ranges_of(const struct pages *pages, const struct walk *walk, struct learned *ret)
{
	int r = 0;

	for (size_t i = 0; !r && i < pages->n; i++) {
		const struct page_run *run = &pages->runs[i];
		struct range range = { PACK_DEVICE, (int64_t)run->index * PAGE, (int64_t)run->n * PAGE, -1 };

		ret->pages += run->n;
		if (run->inode != 0) {
			const struct wanted *wanted = wanted_find(walk, run->inode);
			int file;

			if (!wanted || wanted->file == PACK_DEVICE) {
				ret->unnamed += run->n;
				continue;
			}
			range.file = wanted->file;
			file = openat(walk->root, walk->pack->files[range.file], O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
			if (file >= 0) {
				range.physical = place_on_disk(file, range.offset);
				close(file);
			}
		}
		r = pack_add_range(walk->pack, &range);
		if (r == -EINVAL)
			r = 0; /* further out than any pack goes */
	}
	walk->pack->n_ranges = ranges_join(walk->pack->ranges, walk->pack->n_ranges);
	return r;
}

/* Of the files that are known to have been opened: no folder is looked through, which costs a disk minutes. */
static int find_named(struct walk *walk, struct names names)
{
	struct stat top, status;
	int r = 0;

	if (fstat(walk->root, &top))
		return -errno;
	for (size_t i = 0; !r && walk->left && i < names.n; i++) {
		const char *path = names.paths[i];
		struct wanted *wanted;
		uint32_t file;

		if (fstatat(walk->root, path, &status, AT_SYMLINK_NOFOLLOW) || status.st_dev != top.st_dev)
			continue;
		wanted = wanted_find(walk, status.st_ino);
		if (!wanted || wanted->file != PACK_DEVICE)
			continue;
		r = pack_add_file(walk->pack, path, strlen(path), &file);
		if (!r) {
			wanted->file = file;
			walk->left--;
		} else if (r == -EINVAL) {
			r = 0; /* a name that no pack can have */
		}
	}
	return r;
}

static int name_files(struct walk *walk, struct pages *pages, struct names names, struct learned *ret)
{
	int r;

	walk->wanted = calloc(pages->n + 1, sizeof *walk->wanted);
	if (!walk->wanted)
		return -ENOMEM;
	for (size_t i = 0; i < pages->n; i++)
		if (pages->runs[i].inode != 0)
			walk->wanted[walk->n_wanted++] = (struct wanted){ pages->runs[i].inode, PACK_DEVICE };
	if (walk->n_wanted > 0) {
		size_t kept = 1;

		qsort(walk->wanted, walk->n_wanted, sizeof *walk->wanted, by_inode);
		for (size_t i = 1; i < walk->n_wanted; i++)
			if (walk->wanted[i].inode != walk->wanted[kept - 1].inode)
				walk->wanted[kept++] = walk->wanted[i];
		walk->n_wanted = walk->left = kept;
	}
	r = names.n > 0 ? find_named(walk, names) : walk_root(walk);
	if (!r)
		r = ranges_of(pages, walk, ret);
	free(walk->wanted);
	return r;
}

/* The pages of a descriptor that are in memory now. */
static int add_resident(struct pages *pages, int descriptor, uint64_t inode, int64_t size)
{
	enum { WINDOW = 1 << 26 };
	static unsigned char there[WINDOW / PAGE];
	int r = 0;

	for (int64_t at = 0; !r && at < size; at += WINDOW) {
		size_t length = size - at < WINDOW ? (size_t)(size - at) : WINDOW;
		void *map = mmap(NULL, length, PROT_READ, MAP_SHARED, descriptor, at);

		if (map == MAP_FAILED)
			return 0;
		if (!mincore(map, length, there))
			for (size_t page = 0; !r && page < (length + PAGE - 1) / PAGE; page++)
				if (there[page] & 1)
					r = pages_add(pages, inode, (uint64_t)at / PAGE + page, 1);
		munmap(map, length);
	}
	return r;
}

static int each_resident(struct walk *walk, int folder, const char *name, uint32_t file)
{
	struct stat status;
	int r = 0, descriptor = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOATIME | O_CLOEXEC);

	(void)file;
	if (descriptor < 0)
		return 0;
	if (!fstat(descriptor, &status) && S_ISREG(status.st_mode) && status.st_dev == walk->device)
		r = add_resident(walk->pages, descriptor, status.st_ino, status.st_size);
	close(descriptor);
	return r;
}

static int find_resident(int root, struct pages *pages)
{
	struct walk walk = { .all = true, .root = root, .each = each_resident, .pages = pages };
	int device = root_device_open(root), r = 0;
	uint64_t size;

	if (device >= 0) {
		if (!ioctl(device, BLKGETSIZE64, &size))
			r = add_resident(pages, device, 0, (int64_t)size);
		close(device);
	}
	return r ? r : walk_root(&walk);
}

/* The sum of what each CPU could not note. */
static size_t lost_events(const struct tracing *tracing)
{
	char path[256], text[1024];
	size_t lost = 0;

	for (unsigned cpu = 0; cpu < 4096; cpu++) {
		uint64_t dropped;
		ssize_t got;

		snprintf(path, sizeof path, "%s/" INSTANCES "/%s/per_cpu/cpu%u/stats", tracing->at, tracing->name, cpu);
		got = file_read(path, text, sizeof text - 1);
		if (got < 0)
			break;
		text[got] = 0;
		if (field(text, "dropped events:", 10, &dropped))
			lost += dropped;
	}
	return lost;
}

static int read_trace(const struct tracing *tracing, int root, struct pages *pages, struct learned *ret)
{
	char path[256], *line = NULL;
	struct stat status;
	size_t room = 0;
	FILE *trace;
	int r = knob(tracing, EVENT, "0");

	if (r || fstat(root, &status))
		return r ? r : -errno;
	ret->lost = lost_events(tracing);
	snprintf(path, sizeof path, "%s/" INSTANCES "/%s/trace", tracing->at, tracing->name);
	trace = fopen(path, "re");
	if (!trace)
		return -errno;
	while (!r && getline(&line, &room, trace) >= 0) {
		if (!ret->kept)
			ret->kept = kept_in(line);
		r = pages_add_line(pages, line, major(status.st_dev), minor(status.st_dev));
	}
	free(line);
	fclose(trace);
	return r;
}

int learn_end(const char *name, int root, bool or_resident, struct names names, struct pack *pack, struct learned *ret)
{
	struct walk walk = { .pack = pack, .root = root };
	struct pages pages = { 0 };
	struct tracing tracing = { .name = name };
	int r = tracing_open(&tracing);

	*ret = (struct learned){ .traced = false };
	if (!r) {
		r = read_trace(&tracing, root, &pages, ret);
		tracing_remove(&tracing); /* even so: its buffers are the kernel's memory */
		ret->traced = !r && (pages.n > 0 || !or_resident);
		tracing_close(&tracing);
	}
	if (!ret->traced && or_resident)
		r = find_resident(root, &pages);
	if (!r)
		r = name_files(&walk, &pages, names, ret);
	free(pages.runs);
	return r;
}
