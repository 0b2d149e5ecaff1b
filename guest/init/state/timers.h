/* SPDX-License-Identifier: MIT */
/* When each unit is to be looked at next: a heap, so that the first of thousands is at hand. */
#ifndef BOOTLAB_INIT_TIMERS_H
#define BOOTLAB_INIT_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "units/units.h"

/* What a unit may wait for; one of each kind. */
enum timer { TIMER_DEADLINE, TIMER_POLL, TIMER_WINDOW, TIMER_WATCHDOG };

/* No timer is set. */
void timers_init(void);

/* Anew or in the place of the one that is set; 0: none. */
void timers_set(unit_id id, enum timer timer, int64_t due_ns);

/* Take the first one that is due by `now_ns`; false when there is none. */
bool timers_take(int64_t now_ns, unit_id *ret_id, enum timer *ret);

/* When the first is due; INT64_MAX: none is set. */
int64_t timers_next_ns(void);

#endif
