/* SPDX-License-Identifier: MIT */
/* Reads and writes packs. Each value is looked at, though the CRC fits: a pack may have been made to do harm. */
#include "pack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "shared/text.h"
#include "store.h"

/* Room for one more: a power of two, filled from the front. */
static void *grown(void *array, size_t n, size_t size)
{
	return n & (n - 1) ? array : reallocarray(array, n ? 2 * n : 1, size);
}

/* No path that leaves the root, no byte that ends a line, and no blank at an end, which a line loses. */
static bool path_allowed(const char *path, size_t size)
{
	size_t part = 0;

	if (size == 0 || size > PACK_PATH || path[0] == '/' || path[size - 1] == '/' ||
	    path[0] == ' ' || path[size - 1] == ' ')
		return false;
	for (size_t i = 0; i <= size; i++) {
		if (i < size && path[i] != '/') {
			if ((unsigned char)path[i] < ' ')
				return false;
			part++;
			continue;
		}
		if (part == 0 || (part <= 2 && !memcmp(path + i - part, "..", part)))
			return false;
		part = 0;
	}
	return true;
}

int pack_add_file(struct pack *pack, const char *path, size_t size, uint32_t *ret)
{
	char **files, *copy;

	if (!path_allowed(path, size))
		return -EINVAL;
	if (pack->n_files >= PACK_FILES)
		return -E2BIG;
	files = grown(pack->files, pack->n_files, sizeof *files);
	if (!files)
		return -ENOMEM;
	pack->files = files;
	copy = strndup(path, size);
	if (!copy)
		return -ENOMEM;
	*ret = (uint32_t)pack->n_files;
	files[pack->n_files++] = copy;
	return 0;
}

int pack_add_range(struct pack *pack, const struct range *range)
{
	struct range *ranges;

	if (range->file != PACK_DEVICE && range->file >= pack->n_files)
		return -EINVAL;
	if (range->offset < 0 || range->offset > PACK_END || range->length <= 0 || range->length > PACK_LENGTH)
		return -EINVAL;
	if (range->physical < -1 || range->physical > PACK_END)
		return -EINVAL;
	if (pack->n_ranges >= PACK_RANGES)
		return -E2BIG;
	ranges = grown(pack->ranges, pack->n_ranges, sizeof *ranges);
	if (!ranges)
		return -ENOMEM;
	pack->ranges = ranges;
	ranges[pack->n_ranges++] = *range;
	return 0;
}

static bool name_take(struct slice name, char *ret)
{
	if (name.size == 0 || name.size >= PACK_NAME)
		return false;
	memcpy(ret, name.at, name.size);
	ret[name.size] = 0;
	return true;
}

/* 0, -ENOMEM, -EINVAL for a line that no pack has. */
static int line_read(struct pack *pack, struct slice rest)
{
	struct slice key, word, more;
	int64_t number;
	bool right = false;

	if (!word_next(&rest, &key))
		return -EINVAL;
	if (slice_is(key, "f")) {
		uint32_t file;
		struct slice path = slice_trim(rest);
		int r = pack_add_file(pack, path.at, path.size, &file);

		return r == -ENOMEM ? r : r ? -EINVAL : 0;
	}
	if (slice_is(key, "m") || slice_is(key, "d")) {
		struct range range = { .file = PACK_DEVICE, .physical = -1 };
		int r = -EINVAL;

		number = 0;
		right = slice_is(key, "m") || store_number(&rest, 0, PACK_FILES - 1, &number);
		if (slice_is(key, "d"))
			range.file = (uint32_t)number;
		right = right && store_number(&rest, 0, PACK_END, &range.offset) &&
			store_number(&rest, 1, PACK_LENGTH, &range.length) &&
			(slice_is(key, "m") || store_number(&rest, -1, PACK_END, &range.physical)) && !word_next(&rest, &more);
		if (right)
			r = pack_add_range(pack, &range);
		return r == -ENOMEM ? r : r ? -EINVAL : 0;
	}
	if (slice_is(key, "root"))
		right = store_number(&rest, 0, INT64_MAX, &pack->root);
	else if (slice_is(key, "packages"))
		right = store_number(&rest, 0, INT64_MAX, &pack->packages);
	else if (slice_is(key, "learned"))
		right = store_number(&rest, 0, INT64_MAX, &pack->learned_s);
	else if (slice_is(key, "kernel"))
		right = word_next(&rest, &word) && name_take(word, pack->kernel);
	else if (slice_is(key, "goal"))
		right = word_next(&rest, &word) && name_take(word, pack->goal);
	else if (slice_is(key, "order"))
		right = word_next(&rest, &word) && !order_parse(word, &pack->order);
	else if (slice_is(key, "trial")) {
		enum order order;

		right = word_next(&rest, &word) && !order_parse(word, &order) && store_number(&rest, 1, INT64_MAX, &number) &&
			!trials_add(&pack->trials, order, number);
	}
	return right && !word_next(&rest, &more) ? 0 : -EINVAL;
}

int pack_read(struct pack *pack, const char *text, size_t size, const char **ret_why)
{
	struct slice rest, line;
	struct lines lines;

	*pack = (struct pack){ 0 };
	if (!store_open(PACK_MAGIC, PACK_BYTES, text, size, &rest, ret_why))
		return -EINVAL;
	*ret_why = "has a line that no pack has";
	lines = lines_of(rest.at, rest.size);
	while (line_next(&lines, &line)) {
		int r = line_read(pack, line);

		if (r)
			return r;
	}
	*ret_why = "does not say what it was learned on";
	return pack->kernel[0] && pack->goal[0] ? 0 : -EINVAL;
}

static void rest_write(const struct pack *pack, FILE *to)
{
	fprintf(to, "root %lld\nkernel %s\ngoal %s\npackages %lld\nlearned %lld\norder %s\n", (long long)pack->root,
		pack->kernel, pack->goal, (long long)pack->packages, (long long)pack->learned_s, order_name(pack->order));
	for (int order = 0; order < N_ORDERS; order++)
		for (size_t i = 0; i < pack->trials.n[order]; i++)
			fprintf(to, "trial %s %lld\n", order_name(order), (long long)pack->trials.ns[order][i]);
	for (size_t i = 0; i < pack->n_files; i++)
		fprintf(to, "f %s\n", pack->files[i]);
	for (size_t i = 0; i < pack->n_ranges; i++) {
		const struct range *range = &pack->ranges[i];

		if (range->file == PACK_DEVICE)
			fprintf(to, "m %lld %lld\n", (long long)range->offset, (long long)range->length);
		else
			fprintf(to, "d %u %lld %lld %lld\n", range->file, (long long)range->offset, (long long)range->length,
				(long long)range->physical);
	}
}

int pack_text(const struct pack *pack, char **ret, size_t *ret_size)
{
	char *rest = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&rest, &size);
	bool failed;
	int r;

	if (!to)
		return -ENOMEM;
	rest_write(pack, to);
	failed = ferror(to);
	r = fclose(to) || failed ? -ENOMEM : store_seal(PACK_MAGIC, rest, size, ret, ret_size);
	free(rest);
	return r;
}

void pack_free(struct pack *pack)
{
	for (size_t i = 0; i < pack->n_files; i++)
		free(pack->files[i]);
	free(pack->files);
	free(pack->ranges);
	*pack = (struct pack){ 0 };
}
