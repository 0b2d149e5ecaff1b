/* SPDX-License-Identifier: MIT */
/* Copies a unit with all that its file says to another place: for its child, and past a new reading of all files. */
#ifndef BOOTLAB_INIT_COPY_H
#define BOOTLAB_INIT_COPY_H

#include <stdbool.h>

#include "units.h"

/* Texts, words, conditions and limits, into `arena`; false when they do not fit. Commands, sockets and edges stay what they were. */
bool copy_unit(struct arena *arena, const struct unit *from, struct unit *ret);

bool copy_command(struct arena *arena, const struct command *from, struct command *ret);

#endif
