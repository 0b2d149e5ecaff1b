/* SPDX-License-Identifier: MIT */
/* Keeps the timers of all units in a binary heap, and where in it each one is. */
#include "timers.h"

#include "shared/own.h"

enum { KINDS = TIMER_WATCHDOG + 1 };

/* A timer is unit * KINDS + kind. Places count from 1, the first one due; place 0: it is not set. */
static uint32_t *heap, *place_of, n_set;
static int64_t *due;

void timers_init(void)
{
	OWN_TABLE(heap, MAX_UNITS * KINDS + 1);
	OWN_TABLE(place_of, MAX_UNITS * KINDS);
	OWN_TABLE(due, MAX_UNITS * KINDS);
	for (uint32_t place = 1; place <= n_set; place++)
		place_of[heap[place]] = 0;
	n_set = 0;
}

static void put(uint32_t place, uint32_t timer)
{
	heap[place] = timer;
	place_of[timer] = place;
}

/* To where it belongs, from a place that may be wrong either way. */
static void sift(uint32_t place, uint32_t timer)
{
	uint32_t child;

	for (; place > 1 && due[heap[place / 2]] > due[timer]; place /= 2)
		put(place, heap[place / 2]);
	for (; (child = place * 2) <= n_set; place = child) {
		if (child < n_set && due[heap[child + 1]] < due[heap[child]])
			child++;
		if (due[heap[child]] >= due[timer])
			break;
		put(place, heap[child]);
	}
	put(place, timer);
}

static void take_out(uint32_t timer)
{
	uint32_t place = place_of[timer], last = heap[n_set--];

	place_of[timer] = 0;
	if (last != timer)
		sift(place, last);
}

void timers_set(unit_id id, enum timer which, int64_t due_ns)
{
	uint32_t timer = (uint32_t)id * KINDS + which;

	if (due_ns <= 0) {
		if (place_of[timer])
			take_out(timer);
		return;
	}
	due[timer] = due_ns;
	sift(place_of[timer] ? place_of[timer] : ++n_set, timer);
}

bool timers_take(int64_t now_ns, unit_id *ret_id, enum timer *ret)
{
	if (n_set == 0 || due[heap[1]] > now_ns)
		return false;
	*ret_id = (unit_id)(heap[1] / KINDS);
	*ret = (enum timer)(heap[1] % KINDS);
	take_out(heap[1]);
	return true;
}

int64_t timers_next_ns(void)
{
	return n_set ? due[heap[1]] : INT64_MAX;
}
