/* SPDX-License-Identifier: MIT */
/* Copies a unit with all that its file says to another place: for its child, and past a new reading of all files. */
#ifndef BOOTLAB_INIT_COPY_H
#define BOOTLAB_INIT_COPY_H

#include <stdbool.h>

#include "units.h"

/* Texts, words, conditions and limits, into `arena`; false when they do not fit. Commands, sockets and edges stay what they were. */
bool copy_unit(struct arena *arena, const struct unit *from, struct unit *ret);

bool copy_command(struct arena *arena, const struct command *from, struct command *ret);

/*
 * In `units`, which succeed others and are not resolved yet: number `id` is to stay what it was in those, with its commands and sockets;
 * what its files say now is kept for later (copy_take_later), and is what counts for its order. False when there is no room.
 */
bool copy_carry(struct units *units, unit_id id);

/* It is down: what its files say counts from now on. */
void copy_take_later(struct units *units, unit_id id);

#endif
