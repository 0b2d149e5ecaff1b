/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A head over turning platters. Tracks follow one another surface by surface, then cylinder by cylinder; each begins a seek
 * to the next track later than the one before it, so that reading on misses no turn.
 */
#include "head.h"

#include <string.h>

/* A block group of ext4 with blocks of 4 KiB: what is laid apart when content is stretched. */
static const uint64_t GROUP_SECTORS = 128 << 11;

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static uint64_t square_root(uint64_t value)
{
	uint64_t root = 0;

	for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
		if ((root | bit) * (root | bit) <= value)
			root |= bit;
	return root;
}

/* Where on the disk a sector of the content lies. */
static uint64_t place(const struct disk_figures *figures, uint64_t sector)
{
	uint64_t span = (uint64_t)figures->of[DISK_SPAN_BYTES] / 512;
	uint64_t groups = (figures->sectors + GROUP_SECTORS - 1) / GROUP_SECTORS, stride;

	if (groups < 2 || span / groups < GROUP_SECTORS)
		return sector;
	stride = span / groups;
	return sector / GROUP_SECTORS * stride + sector % GROUP_SECTORS;
}

/*
 * The track's own time and what grows with the root of the way. The mean of the root of the way between two random places is
 * 8/15 of that of the whole way: so the factor gives the average seek exactly.
 */
static int64_t seek_ns(const int64_t *figures, uint64_t from, uint64_t to)
{
	uint64_t heads = (uint64_t)figures[DISK_HEADS], a = from / heads, b = to / heads, way = a > b ? a - b : b - a;
	uint64_t factor = (uint64_t)(figures[DISK_AVERAGE_SEEK_NS] - figures[DISK_TRACK_SEEK_NS]) * 15 / 8;

	if (from == to)
		return 0;
	return figures[DISK_TRACK_SEEK_NS] + (int64_t)(factor * square_root((way << 40) / (uint64_t)figures[DISK_TRACKS]) >> 20);
}

static uint64_t track_of(const struct disk_figures *figures, uint64_t place)
{
	return place / (uint64_t)figures->of[DISK_TRACK_SECTORS];
}

/* How long the head is over these sectors. */
static int64_t pass_ns(const struct disk_figures *all, uint64_t sector, uint64_t sectors)
{
	uint64_t first = place(all, sector), last = place(all, sector + sectors - 1);
	uint64_t switches = track_of(all, last) - track_of(all, first);
	const int64_t *figures = all->of;

	/* Stretched content has a gap in it, where the head moves as to any other track. */
	if (last - first != sectors - 1)
		switches = 1 + sectors / (uint64_t)figures[DISK_TRACK_SECTORS];
	return (int64_t)(sectors * (uint64_t)figures[DISK_TURN_NS] / (uint64_t)figures[DISK_TRACK_SECTORS] +
			 switches * (uint64_t)figures[DISK_TRACK_SEEK_NS]);
}

int64_t disk_head_arrival(const struct disk_head *head, const struct disk_figures *all, uint64_t sector, int64_t t_ns)
{
	const int64_t *figures = all->of;
	uint64_t to = place(all, sector), track = track_of(all, to), turn = (uint64_t)figures[DISK_TURN_NS];
	uint64_t offset = to - track * (uint64_t)figures[DISK_TRACK_SECTORS], angle, phase;
	int64_t there = t_ns + seek_ns(figures, track_of(all, place(all, head->at)), track);

	angle = (offset * turn / (uint64_t)figures[DISK_TRACK_SECTORS] + track * (uint64_t)figures[DISK_TRACK_SEEK_NS]) % turn;
	phase = (uint64_t)there % turn;
	return there + (int64_t)(angle >= phase ? angle - phase : angle + turn - phase);
}

static uint64_t cache_sectors(const struct disk_figures *figures)
{
	return (uint64_t)figures->of[DISK_CACHE_BYTES] / 512;
}

static void drop_oldest(struct disk_head *head)
{
	head->cached_sectors -= head->cache[0].end - head->cache[0].begin;
	head->cached--;
	memmove(head->cache, head->cache + 1, head->cached * sizeof *head->cache);
}

static void keep(struct disk_head *head, const struct disk_figures *figures, uint64_t begin, uint64_t end)
{
	if (end - begin > cache_sectors(figures))
		begin = end - cache_sectors(figures);
	while (head->cached && (head->cached == DISK_EXTENTS_MAX || head->cached_sectors + (end - begin) > cache_sectors(figures)))
		drop_oldest(head);
	head->cache[head->cached++] = (struct disk_extent){ begin, end };
	head->cached_sectors += end - begin;
}

/* How far the head has come since it was done, reading on as long as nothing else is to do. */
static uint64_t read_up_to(const struct disk_head *head, const struct disk_figures *figures, int64_t t_ns)
{
	uint64_t track = (uint64_t)figures->of[DISK_TRACK_SECTORS], limit = head->at + cache_sectors(figures), passed, on;
	/* A track, and the way to the next one. */
	uint64_t each = (uint64_t)(figures->of[DISK_TURN_NS] + figures->of[DISK_TRACK_SEEK_NS]);

	if (!head->reads_on || t_ns <= head->reads_on_from_ns)
		return head->at;
	on = (uint64_t)(t_ns - head->reads_on_from_ns);
	passed = on / each * track + on % each * track / each;
	if (limit > figures->sectors)
		limit = figures->sectors;
	return head->at + passed < limit ? head->at + passed : limit;
}

/* Called away: what it has read on so far stays in the cache. */
static void end_reading_on(struct disk_head *head, const struct disk_figures *figures, int64_t t_ns)
{
	uint64_t end = read_up_to(head, figures, t_ns);

	if (head->reads_on && end > head->at) {
		keep(head, figures, head->at, end);
		head->at = end;
	}
	head->reads_on = false;
}

/* Whether every sector is in some extent. */
static bool is_kept(const struct disk_head *head, const struct disk_figures *figures, uint64_t begin, uint64_t end, int64_t t_ns)
{
	uint64_t read_to = read_up_to(head, figures, t_ns);
	bool grew = true;

	while (begin < end && grew) {
		grew = false;
		if (begin >= head->at && begin < read_to) {
			begin = read_to;
			grew = true;
		}
		for (size_t i = 0; i < head->cached; i++)
			if (begin >= head->cache[i].begin && begin < head->cache[i].end) {
				begin = head->cache[i].end;
				grew = true;
			}
	}
	return begin >= end;
}

bool disk_head_cached(struct disk_head *head, const struct disk_figures *figures, const struct disk_request *request, int64_t t_ns,
		      int64_t *ret)
{
	uint64_t bytes = (uint64_t)request->sectors * 512;

	if (request->operation == DISK_READ) {
		if (!is_kept(head, figures, request->sector, request->sector + request->sectors, t_ns))
			return false;
		*ret = t_ns + figures->of[DISK_COMMAND_NS] + disk_transfer_ns(bytes, figures->of[DISK_READ_BYTES_S]);
		return true;
	}
	if (request->operation == DISK_FLUSH) {
		if (head->n_unwritten || head->writes_back)
			return false;
		*ret = t_ns + figures->of[DISK_COMMAND_NS] + figures->of[DISK_FLUSH_NS];
		return true;
	}
	if (head->n_unwritten == DISK_EXTENTS_MAX || head->unwritten_sectors + request->sectors > cache_sectors(figures))
		return false;
	head->unwritten[head->n_unwritten++] = (struct disk_extent){ request->sector, request->sector + request->sectors };
	head->unwritten_sectors += request->sectors;
	keep(head, figures, request->sector, request->sector + request->sectors);
	*ret = t_ns + figures->of[DISK_COMMAND_NS] + disk_transfer_ns(bytes, figures->of[DISK_WRITE_BYTES_S]);
	return true;
}

int64_t disk_head_read(struct disk_head *head, const struct disk_figures *figures, const struct disk_request *request, int64_t t_ns)
{
	uint64_t end = request->sector + request->sectors;
	int64_t done;

	t_ns += figures->of[DISK_COMMAND_NS];
	/* The head is on its way there already. */
	if (head->reads_on && request->sector >= head->at && request->sector <= read_up_to(head, figures, t_ns)) {
		int64_t on = pass_ns(figures, head->at, end - head->at);

		done = later(t_ns, head->reads_on_from_ns + on);
	} else {
		end_reading_on(head, figures, t_ns);
		done = disk_head_arrival(head, figures, request->sector, t_ns) + pass_ns(figures, request->sector, request->sectors);
		head->at = request->sector;
	}
	keep(head, figures, head->at, end);
	head->at = end;
	head->reads_on = true;
	head->reads_on_from_ns = done;
	return done;
}

int64_t disk_head_write_back(struct disk_head *head, const struct disk_figures *figures, int64_t t_ns)
{
	struct disk_extent extent;
	size_t best = 0;
	int64_t least = INT64_MAX;

	end_reading_on(head, figures, t_ns);
	for (size_t i = 0; i < head->n_unwritten; i++) {
		int64_t at = disk_head_arrival(head, figures, head->unwritten[i].begin, t_ns);

		if (at < least) {
			least = at;
			best = i;
		}
	}
	extent = head->unwritten[best];
	head->unwritten_sectors -= extent.end - extent.begin;
	head->n_unwritten--;
	memmove(head->unwritten + best, head->unwritten + best + 1, (head->n_unwritten - best) * sizeof extent);
	head->writes_back = true;
	head->at = extent.end;
	return least + pass_ns(figures, extent.begin, extent.end - extent.begin);
}
