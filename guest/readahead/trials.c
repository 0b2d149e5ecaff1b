/* SPDX-License-Identifier: MIT */
/* Chooses the order of reading ahead (none, by disk block, by need) whose trial boots were quickest on this machine. */
#include "trials.h"

#include <errno.h>

static const char *const names[N_ORDERS] = { "none", "block", "need" };

const char *order_name(enum order order)
{
	return names[order];
}

int order_parse(struct slice name, enum order *ret)
{
	for (int order = 0; order < N_ORDERS; order++)
		if (slice_is(name, names[order])) {
			*ret = order;
			return 0;
		}
	return -EINVAL;
}

int trials_add(struct trials *trials, enum order order, int64_t ns)
{
	size_t n = trials->n[order];

	if (n >= TRIALS_EACH)
		return -EINVAL;
	/* In order of length, the shortest first. */
	for (; n > 0 && trials->ns[order][n - 1] > ns; n--)
		trials->ns[order][n] = trials->ns[order][n - 1];
	trials->ns[order][n] = ns;
	trials->n[order]++;
	return 0;
}

bool trials_are_over(const struct trials *trials)
{
	for (int order = 0; order < N_ORDERS; order++)
		if (trials->n[order] < TRIALS_EACH)
			return false;
	return true;
}

enum order trials_next(const struct trials *trials)
{
	enum order next = ORDER_NONE;

	if (!trials_are_over(trials)) {
		for (int order = 0; order < N_ORDERS; order++)
			if (trials->n[order] < trials->n[next])
				next = order;
		return next;
	}
	for (int order = ORDER_BLOCK; order < N_ORDERS; order++)
		if (trials->ns[order][TRIALS_EACH - 1] < trials->ns[ORDER_NONE][0] &&
		    trials->ns[order][TRIALS_EACH / 2] < trials->ns[next][TRIALS_EACH / 2])
			next = order;
	return next;
}
