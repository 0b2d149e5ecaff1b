/* SPDX-License-Identifier: MIT */
/* Tests which order a machine keeps, by the boots that it measured. */
#include "../trials.h"

#include <stdlib.h>

#include "shared/tests/check.h"

/* Nine boots, three of each order, as `trials_next` asks for them. */
static enum order decide(const int64_t none[3], const int64_t block[3], const int64_t need[3])
{
	const int64_t *taken[N_ORDERS] = { none, block, need };
	struct trials trials = { 0 };
	size_t n[N_ORDERS] = { 0 };

	for (int boot = 0; boot < N_ORDERS * TRIALS_EACH; boot++) {
		enum order order = trials_next(&trials);

		CHECK(!trials_are_over(&trials) && n[order] < TRIALS_EACH);
		CHECK(!trials_add(&trials, order, taken[order][n[order]++]));
	}
	CHECK(trials_are_over(&trials) && trials_add(&trials, ORDER_NONE, 1));
	return trials_next(&trials);
}

#define BOOTS(a, b, c) ((const int64_t[]){ a, b, c })

int main(void)
{
	CHECK(decide(BOOTS(100, 101, 99), BOOTS(80, 82, 81), BOOTS(90, 91, 92)) == ORDER_BLOCK);
	CHECK(decide(BOOTS(100, 101, 99), BOOTS(102, 103, 104), BOOTS(90, 91, 92)) == ORDER_NEED);
	/* A machine that waits for its CPU: the boots are alike, and nothing is read ahead. */
	CHECK(decide(BOOTS(100, 101, 99), BOOTS(100, 99, 101), BOOTS(101, 99, 100)) == ORDER_NONE);
	CHECK(decide(BOOTS(100, 101, 99), BOOTS(120, 121, 122), BOOTS(110, 111, 112)) == ORDER_NONE);
	/* Shorter in the middle, but boots vary by more than that. */
	CHECK(decide(BOOTS(100, 101, 90), BOOTS(80, 85, 95), BOOTS(120, 120, 120)) == ORDER_NONE);
	return EXIT_SUCCESS;
}
