/* SPDX-License-Identifier: MIT */
/* By file and place first, so that what may be joined lies side by side; then back into their turns. */
#include "join.h"

#include <stdbool.h>
#include <stdlib.h>

struct turn {
	struct range range;
	size_t rank;
};

static int by_offset(const void *a, const void *b)
{
	const struct turn *one = a, *other = b;

	if (one->range.file != other->range.file)
		return one->range.file < other->range.file ? -1 : 1;
	if (one->range.offset != other->range.offset)
		return one->range.offset < other->range.offset ? -1 : 1;
	return (one->rank > other->rank) - (one->rank < other->rank);
}

static int by_rank(const void *a, const void *b)
{
	const struct turn *one = a, *other = b;

	return (one->rank > other->rank) - (one->rank < other->rank);
}

static bool join(struct range *range, const struct range *next)
{
	int64_t end = next->offset + next->length, way = next->offset - range->offset;

	if (next->file != range->file || way - range->length > JOIN_GAP)
		return false;
	if ((range->physical < 0) != (next->physical < 0))
		return false;
	if (range->physical >= 0 && next->physical - range->physical != way)
		return false;
	if (end <= range->offset + range->length)
		return true;
	if (end - range->offset > JOIN_LENGTH)
		return false;
	range->length = end - range->offset;
	return true;
}

size_t ranges_join(struct range *ranges, size_t n)
{
	struct turn *turns = reallocarray(NULL, n + 1, sizeof *turns);
	size_t left = 0;

	if (!turns)
		return n;
	for (size_t i = 0; i < n; i++)
		turns[i] = (struct turn){ ranges[i], i };
	if (n > 0)
		qsort(turns, n, sizeof *turns, by_offset);
	for (size_t i = 0; i < n; i++)
		if (left > 0 && join(&turns[left - 1].range, &turns[i].range)) {
			if (turns[i].rank < turns[left - 1].rank)
				turns[left - 1].rank = turns[i].rank;
		} else {
			turns[left++] = turns[i];
		}
	if (left > 0)
		qsort(turns, left, sizeof *turns, by_rank);
	for (size_t i = 0; i < left; i++)
		ranges[i] = turns[i].range;
	free(turns);
	return left;
}
