/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the word that QEMU's virtual clock follows, by trying, and adds to it. */
#include "charged_clock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "lock.h"
#include "symbols.h"

enum { QEMU_CLOCK_VIRTUAL = 1 };

/* Even, so that a word that is a counter of writes stays one of writes that are over; and far from any time at power-on. */
static const int64_t PROBE_NS = INT64_C(1) << 36;

struct clock_functions {
	int64_t (*now)(void);
	int64_t (*instructions)(void);
	int64_t (*to_ns)(int64_t instructions);
	int64_t (*clock_now)(int clock);
};

/* QEMU reads it from other threads, as one access. */
static void put(int64_t *word, int64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

/* Whether all clocks move with this word, as far as it does and back, and the instructions do not. */
static bool is_followed(const struct clock_functions *clock, int64_t *word)
{
	int64_t before = clock->now(), instructions = clock->instructions(), value = *word;
	bool moved;

	put(word, value + PROBE_NS);
	moved = clock->now() == before + PROBE_NS && clock->clock_now(QEMU_CLOCK_VIRTUAL) == before + PROBE_NS &&
		clock->instructions() == instructions;
	put(word, value);
	return moved && clock->now() == before && clock->clock_now(QEMU_CLOCK_VIRTUAL) == before;
}

/* Only a word is tried that holds what the bias must hold now. */
static int find_bias(const struct clock_functions *clock, int64_t *words, size_t count, char *message, size_t message_size,
		     int64_t **ret)
{
	int64_t wanted = clock->now() - clock->to_ns(clock->instructions());
	int found = 0;

	for (size_t i = 0; i < count; i++)
		if (words[i] == wanted && is_followed(clock, &words[i])) {
			*ret = &words[i];
			found++;
		}
	if (found == 1)
		return 0;
	snprintf(message, message_size, "the clock follows %d words of timers_state, not one", found);
	return -ENOTSUP;
}

int charged_clock_open(char *message, size_t message_size, struct charged_clock *ret)
{
	struct charged_clock charged;
	struct clock_functions clock;
	struct qemu_lock lock;
	int64_t *words;
	const struct wanted_symbol wanted[] = {
		{ "timers_state", &words },
		{ "icount_get", &clock.now },
		{ "icount_get_raw", &clock.instructions },
		{ "icount_to_ns", &clock.to_ns },
		{ "qemu_clock_get_ns", &clock.clock_now },
		{ "cpu_exit", &charged.leave },
		{ "current_cpu", &charged.cpu },
	};
	int r = symbols_find(wanted, sizeof wanted / sizeof *wanted, message, message_size);

	if (!r)
		r = lock_open(message, message_size, &lock);
	if (r)
		return r;
	if (!*charged.cpu) {
		snprintf(message, message_size, "current_cpu is not set where the guest runs");
		return -ENOTSUP;
	}
	lock_take(&lock);
	r = find_bias(&clock, words, symbol_size(words) / sizeof *words, message, message_size, &charged.bias);
	lock_give(&lock);
	if (!r)
		*ret = charged;
	return r;
}

void charged_clock_move(const struct charged_clock *clock, int64_t ns)
{
	__atomic_fetch_add(clock->bias, ns, __ATOMIC_SEQ_CST);
}

void charged_clock_add(const struct charged_clock *clock, int64_t ns)
{
	charged_clock_move(clock, ns);
	/* The deadline of the next timer was computed from the clock before: compute it anew. */
	clock->leave(*clock->cpu);
}
