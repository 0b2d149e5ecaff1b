/* SPDX-License-Identifier: MIT */
/* Each value is looked at, though the CRC fits: a file may have been made to do harm. What there is no room for is left out. */
#include "habits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "readahead/store.h"

/* The user's number; made, in place of the one with the fewest sessions if need be. */
static size_t user_find(struct habits *habits, const char *user)
{
	size_t at;

	for (at = 0; at < habits->n_users; at++)
		if (!strcmp(habits->users[at], user))
			return at;
	if (habits->n_users < HABITS_USERS) {
		habits->n_users++;
	} else {
		at = 0;
		for (size_t other = 1; other < HABITS_USERS; other++)
			if (habits->sessions[other] < habits->sessions[at])
				at = other;
		for (size_t file = 0; file < habits->pack.n_files; file++)
			habits->together[file][at] = 0;
	}
	snprintf(habits->users[at], HABITS_NAME, "%s", user);
	habits->sessions[at] = 0;
	return at;
}

static int add_file(struct habits *habits, const char *path, size_t size, uint32_t *ret)
{
	int r;

	if (habits->pack.n_files >= HABITS_FILES || habits->path_bytes + size > HABITS_PATHS)
		return -E2BIG;
	if (!habits->together && !(habits->together = calloc(HABITS_FILES, sizeof *habits->together)))
		return -ENOMEM;
	r = pack_add_file(&habits->pack, path, size, ret);
	if (!r) {
		habits->path_bytes += size;
		memset(habits->together[*ret], 0, sizeof *habits->together);
	}
	return r;
}

static int add_range(struct habits *habits, const struct range *range)
{
	return habits->pack.n_ranges >= HABITS_RANGES ? -E2BIG : pack_add_range(&habits->pack, range);
}

static int64_t sum(const int64_t *weights, size_t n)
{
	int64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += weights[i];
	return all;
}

int64_t habits_expect(const struct habits *habits, size_t file, const char *user)
{
	for (size_t at = 0; user && at < habits->n_users; at++)
		if (!strcmp(habits->users[at], user))
			return habits->sessions[at] > 0 ? habits->together[file][at] * 1000 / habits->sessions[at] : 0;
	int64_t sessions = sum(habits->sessions, habits->n_users);

	return sessions > 0 ? sum(habits->together[file], habits->n_users) * 1000 / sessions : 0;
}

/* Older sessions count less, for every user and file alike: who has not come for long is expected less. */
static void fade(struct habits *habits)
{
	for (size_t user = 0; user < habits->n_users; user++)
		habits->sessions[user] = habits->sessions[user] * HABITS_KEPT_OF_FOUR / 4;
	for (size_t file = 0; file < habits->pack.n_files; file++)
		for (size_t user = 0; user < HABITS_USERS; user++)
			habits->together[file][user] = habits->together[file][user] * HABITS_KEPT_OF_FOUR / 4;
}

/* Files that hardly a session is expected to open, with their ranges, are not remembered. */
static int forget_rare(struct habits *habits)
{
	struct habits kept = { .n_users = habits->n_users };
	uint32_t *place = reallocarray(NULL, habits->pack.n_files + 1, sizeof *place);
	int r = place ? 0 : -ENOMEM;

	for (size_t file = 0; !r && file < habits->pack.n_files; file++) {
		place[file] = PACK_DEVICE;
		if (habits_expect(habits, file, NULL) < HABITS_EXPECTED / 10)
			continue;
		r = add_file(&kept, habits->pack.files[file], strlen(habits->pack.files[file]), &place[file]);
		if (!r)
			memcpy(kept.together[place[file]], habits->together[file], sizeof *kept.together);
	}
	for (size_t i = 0; !r && i < habits->pack.n_ranges; i++) {
		struct range range = habits->pack.ranges[i];

		if (range.file != PACK_DEVICE) {
			range.file = place[range.file];
			if (range.file == PACK_DEVICE)
				continue;
		}
		r = add_range(&kept, &range);
	}
	free(place);
	if (r) {
		habits_free(&kept);
		return r;
	}
	for (size_t i = 0; i < habits->pack.n_files; i++)
		free(habits->pack.files[i]);
	free(habits->pack.files);
	free(habits->pack.ranges);
	free(habits->together);
	habits->pack.files = kept.pack.files;
	habits->pack.ranges = kept.pack.ranges;
	habits->pack.n_files = kept.pack.n_files;
	habits->pack.n_ranges = kept.pack.n_ranges;
	habits->together = kept.together;
	habits->path_bytes = kept.path_bytes;
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A file that is known, to be found by its path. */
struct known {
	const char *path; /* first: by_path() compares it */
	uint32_t file;
};

static bool was_opened(const char *path, char *const *opened, size_t n)
{
	return n > 0 && bsearch(&path, opened, n, sizeof *opened, by_path);
}

/* The number of each file of the session here, where it has room; and which files it opened. */
static int place_files(struct habits *habits, const struct pack *read, uint32_t *place, bool *counted)
{
	size_t n = habits->pack.n_files;
	struct known *known = reallocarray(NULL, n + 1, sizeof *known);
	int r = known ? 0 : -ENOMEM;

	for (size_t file = 0; !r && file < n; file++)
		known[file] = (struct known){ habits->pack.files[file], (uint32_t)file };
	if (!r)
		qsort(known, n, sizeof *known, by_path);
	for (size_t file = 0; !r && file < read->n_files; file++) {
		const struct known *old = bsearch(&read->files[file], known, n, sizeof *known, by_path);

		place[file] = old ? old->file : PACK_DEVICE;
		if (!old)
			r = add_file(habits, read->files[file], strlen(read->files[file]), &place[file]);
		if (r == -E2BIG) {
			habits->left_out++;
			r = 0;
		}
		if (!r && place[file] != PACK_DEVICE)
			counted[place[file]] = true;
	}
	free(known);
	return r;
}

/* By file and offset; of those at one place the longest first, then the one that was known. */
static int by_place(const void *a, const void *b)
{
	const struct range *one = *(struct range *const *)a, *other = *(struct range *const *)b;

	if (one->file != other->file)
		return one->file < other->file ? -1 : 1;
	if (one->offset != other->offset)
		return one->offset < other->offset ? -1 : 1;
	if (one->length != other->length)
		return one->length > other->length ? -1 : 1;
	return (one > other) - (one < other);
}

/* The ranges, known ones first, without those that lie within another. Sorted once: a session may read a million pieces. */
static int place_ranges(struct habits *habits, const struct pack *read, const uint32_t *place)
{
	size_t n = 0, most = habits->pack.n_ranges + read->n_ranges;
	struct range *ranges = reallocarray(NULL, most + 1, sizeof *ranges), **sorted = reallocarray(NULL, most + 1, sizeof *sorted);
	int64_t end = 0;
	int r = ranges && sorted ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < most; i++) {
		bool old = i < habits->pack.n_ranges;
		struct range range = old ? habits->pack.ranges[i] : read->ranges[i - habits->pack.n_ranges];

		if (!old && range.file != PACK_DEVICE && (range.file = place[range.file]) == PACK_DEVICE)
			continue;
		sorted[n] = &ranges[n];
		ranges[n++] = range;
	}
	if (!r)
		qsort(sorted, n, sizeof *sorted, by_place);
	for (size_t i = 0; !r && i < n; i++) {
		if (i == 0 || sorted[i]->file != sorted[i - 1]->file)
			end = 0;
		if (sorted[i]->offset + sorted[i]->length <= end)
			sorted[i]->length = 0; /* within another */
		else
			end = sorted[i]->offset + sorted[i]->length;
	}
	if (!r)
		habits->pack.n_ranges = 0;
	for (size_t i = 0; !r && i < n; i++) {
		if (ranges[i].length == 0)
			continue;
		r = add_range(habits, &ranges[i]);
		if (r == -E2BIG || r == -EINVAL) {
			habits->left_out++;
			r = 0;
		}
	}
	free(ranges);
	free(sorted);
	return r;
}

int habits_learn(struct habits *habits, const char *user, const struct pack *read, char *const *opened, size_t n_opened)
{
	uint32_t *place = reallocarray(NULL, read->n_files + 1, sizeof *place);
	bool *counted = calloc(HABITS_FILES, sizeof *counted);
	size_t at = user_find(habits, user);
	int r = place && counted ? 0 : -ENOMEM;

	habits->left_out = 0;
	if (!r)
		r = forget_rare(habits);
	/* What came from memory because it was read ahead, or had been needed before. */
	for (size_t file = 0; !r && file < habits->pack.n_files; file++)
		counted[file] = opened ? was_opened(habits->pack.files[file], opened, n_opened) :
					 habits_expect(habits, file, NULL) >= HABITS_EXPECTED;
	if (!r) {
		fade(habits);
		habits->sessions[at] += HABITS_ONE;
		r = place_files(habits, read, place, counted);
	}
	for (size_t file = 0; !r && file < habits->pack.n_files; file++)
		if (counted[file])
			habits->together[file][at] += HABITS_ONE;
	if (!r)
		r = place_ranges(habits, read, place);
	free(place);
	free(counted);
	return r;
}

int habits_pick(const struct habits *habits, struct pack *ret)
{
	uint32_t *place = reallocarray(NULL, habits->pack.n_files + 1, sizeof *place);
	int r = place ? 0 : -ENOMEM;

	*ret = (struct pack){ .root = habits->pack.root, .packages = habits->pack.packages };
	for (size_t file = 0; !r && file < habits->pack.n_files; file++) {
		place[file] = PACK_DEVICE;
		if (habits_expect(habits, file, NULL) >= HABITS_EXPECTED)
			r = pack_add_file(ret, habits->pack.files[file], strlen(habits->pack.files[file]), &place[file]);
	}
	for (size_t i = 0; !r && i < habits->pack.n_ranges; i++) {
		struct range range = habits->pack.ranges[i];

		if (range.file != PACK_DEVICE && (range.file = place[range.file]) == PACK_DEVICE)
			continue;
		r = pack_add_range(ret, &range);
	}
	free(place);
	return r;
}

static bool line_end(struct slice rest)
{
	struct slice more;

	return !word_next(&rest, &more);
}

static bool user_read(struct habits *habits, struct slice rest)
{
	int64_t *sessions = &habits->sessions[habits->n_users];
	struct slice name;

	if (habits->n_users >= HABITS_USERS || !word_next(&rest, &name) || name.size >= HABITS_NAME ||
	    !store_number(&rest, 0, 4 * HABITS_ONE, sessions) || !line_end(rest))
		return false;
	memcpy(habits->users[habits->n_users], name.at, name.size);
	habits->users[habits->n_users++][name.size] = 0;
	return true;
}

/* f WEIGHT... PATH: a weight for each user. 0, -ENOMEM or -EINVAL. */
static int file_read_line(struct habits *habits, struct slice rest)
{
	int64_t weights[HABITS_USERS] = { 0 };
	uint32_t file;
	int r;

	for (size_t user = 0; user < habits->n_users; user++)
		if (!store_number(&rest, 0, habits->sessions[user], &weights[user]))
			return -EINVAL;
	rest = slice_trim(rest);
	r = add_file(habits, rest.at, rest.size, &file);
	if (!r)
		memcpy(habits->together[file], weights, sizeof weights);
	return r == -ENOMEM ? r : r ? -EINVAL : 0;
}

static int line_take(struct habits *habits, struct slice rest)
{
	struct range range = { .file = PACK_DEVICE, .physical = -1 };
	struct slice key, word;
	int64_t number = 0;
	bool right = false;
	int r;

	if (!word_next(&rest, &key))
		return -EINVAL;
	if (slice_is(key, "f"))
		return file_read_line(habits, rest);
	if (slice_is(key, "d") || slice_is(key, "m")) {
		right = slice_is(key, "m") || store_number(&rest, 0, HABITS_FILES - 1, &number);
		if (slice_is(key, "d"))
			range.file = (uint32_t)number;
		right = right && store_number(&rest, 0, PACK_END, &range.offset) &&
			store_number(&rest, 1, PACK_LENGTH, &range.length) &&
			(slice_is(key, "m") || store_number(&rest, -1, PACK_END, &range.physical)) && line_end(rest);
		r = right ? add_range(habits, &range) : -EINVAL;
		return r == -ENOMEM ? r : r ? -EINVAL : 0;
	}
	if (slice_is(key, "user"))
		return user_read(habits, rest) ? 0 : -EINVAL;
	if (slice_is(key, "root"))
		right = store_number(&rest, 0, INT64_MAX, &habits->pack.root);
	else if (slice_is(key, "packages"))
		right = store_number(&rest, 0, INT64_MAX, &habits->pack.packages);
	else if (slice_is(key, "kernel") && word_next(&rest, &word) && word.size < PACK_NAME) {
		memcpy(habits->pack.kernel, word.at, word.size);
		habits->pack.kernel[word.size] = 0;
		right = true;
	}
	return right && line_end(rest) ? 0 : -EINVAL;
}

int habits_read(struct habits *habits, const char *text, size_t size, const char **ret_why)
{
	struct slice rest, line;
	struct lines lines;

	*habits = (struct habits){ 0 };
	if (!store_open(HABITS_MAGIC, HABITS_BYTES, text, size, &rest, ret_why))
		return -EINVAL;
	*ret_why = "has a line that no such file has";
	lines = lines_of(rest.at, rest.size);
	while (line_next(&lines, &line)) {
		int r = line_take(habits, line);

		if (r)
			return r;
	}
	*ret_why = "does not say what it was learned on";
	return habits->pack.kernel[0] && habits->n_users > 0 ? 0 : -EINVAL;
}

int habits_text(const struct habits *habits, char **ret, size_t *ret_size)
{
	const struct pack *pack = &habits->pack;
	char *rest = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&rest, &size);
	bool failed;
	int r;

	if (!to)
		return -ENOMEM;
	fprintf(to, "root %lld\nkernel %s\npackages %lld\n", (long long)pack->root, pack->kernel, (long long)pack->packages);
	for (size_t user = 0; user < habits->n_users; user++)
		fprintf(to, "user %s %lld\n", habits->users[user], (long long)habits->sessions[user]);
	for (size_t file = 0; file < pack->n_files; file++) {
		fprintf(to, "f ");
		for (size_t user = 0; user < habits->n_users; user++)
			fprintf(to, "%lld ", (long long)habits->together[file][user]);
		fprintf(to, "%s\n", pack->files[file]);
	}
	for (size_t i = 0; i < pack->n_ranges; i++) {
		const struct range *range = &pack->ranges[i];

		if (range->file == PACK_DEVICE)
			fprintf(to, "m %lld %lld\n", (long long)range->offset, (long long)range->length);
		else
			fprintf(to, "d %u %lld %lld %lld\n", range->file, (long long)range->offset, (long long)range->length,
				(long long)range->physical);
	}
	failed = ferror(to);
	r = fclose(to) || failed ? -ENOMEM : size > HABITS_BYTES ? -E2BIG : store_seal(HABITS_MAGIC, rest, size, ret, ret_size);
	free(rest);
	return r;
}

void habits_free(struct habits *habits)
{
	pack_free(&habits->pack);
	free(habits->together);
	*habits = (struct habits){ 0 };
}
