/* SPDX-License-Identifier: MIT */
/* Keeps the timers of all units in a binary heap, and where in it each one is. */
#include "timers.h"

#include "shared/own.h"

enum { KINDS = TIMER_WATCHDOG + 1 };

/* A timer is unit * KINDS + kind. Places count from 1, the first one due; place 0: it is not set. */
static uint32_t *heap, n_set;
static struct {
	int64_t due_ns;
	uint32_t place;
} *timers;

void timers_init(void)
{
	OWN_TABLE(heap, MAX_UNITS * KINDS + 1);
	OWN_TABLE(timers, MAX_UNITS * KINDS);
	for (uint32_t place = 1; place <= n_set; place++)
		timers[heap[place]].place = 0;
	n_set = 0;
}

static void put(uint32_t place, uint32_t timer)
{
	heap[place] = timer;
	timers[timer].place = place;
}

/* To where it belongs, from a place that may be wrong either way. */
static void sift(uint32_t place, uint32_t timer)
{
	uint32_t child;

	for (; place > 1 && timers[heap[place / 2]].due_ns > timers[timer].due_ns; place /= 2)
		put(place, heap[place / 2]);
	for (; (child = place * 2) <= n_set; place = child) {
		if (child < n_set && timers[heap[child + 1]].due_ns < timers[heap[child]].due_ns)
			child++;
		if (timers[heap[child]].due_ns >= timers[timer].due_ns)
			break;
		put(place, heap[child]);
	}
	put(place, timer);
}

static void take_out(uint32_t timer)
{
	uint32_t place = timers[timer].place, last = heap[n_set--];

	timers[timer].place = 0;
	if (last != timer)
		sift(place, last);
}

void timers_set(unit_id id, enum timer which, int64_t due_ns)
{
	uint32_t timer = (uint32_t)id * KINDS + which;

	if (due_ns <= 0) {
		if (timers[timer].place)
			take_out(timer);
		return;
	}
	timers[timer].due_ns = due_ns;
	sift(timers[timer].place ? timers[timer].place : ++n_set, timer);
}

bool timers_take(int64_t now_ns, unit_id *ret_id, enum timer *ret)
{
	if (n_set == 0 || timers[heap[1]].due_ns > now_ns)
		return false;
	*ret_id = (unit_id)(heap[1] / KINDS);
	*ret = (enum timer)(heap[1] % KINDS);
	take_out(heap[1]);
	return true;
}

int64_t timers_next_ns(void)
{
	return n_set ? timers[heap[1]].due_ns : INT64_MAX;
}
