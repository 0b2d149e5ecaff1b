/* SPDX-License-Identifier: MIT */
/*
 * Sockets that PID 1 opens for a unit and hands over to its program, as sd_listen_fds(3) has it: whoever connects waits in the
 * kernel's queue while the program starts, or is started again.
 */
#ifndef BOOTLAB_INIT_SOCKETS_H
#define BOOTLAB_INIT_SOCKETS_H

#include "loop.h"
#include "units/units.h"

void sockets_init(const struct units *units);

/* Open those of the unit that are not open yet. 0, or -errno and the address that it was about. */
int sockets_open(const struct units *units, unit_id id, const char **ret_address);

/* Call `fn` when somebody connects to one of the unit's, or sends to it; and no more. 0 or -errno. */
int sockets_watch(const struct units *units, unit_id id, loop_fn *fn);
void sockets_unwatch(const struct units *units, unit_id id);

void sockets_close(const struct units *units, unit_id id);

/* Units `units` take the place of `before`: what is open of a unit stays so where it has the same address, else it is closed. */
void sockets_succeed(const struct units *before, const struct units *units);

/* The same for a unit whose file says something else from now on; `was` is what it said. */
void sockets_change(const struct units *units, const struct unit *was, unit_id id);

/* The unit's, in the order of its file. */
const int *sockets_of(const struct units *units, unit_id id);

#endif
