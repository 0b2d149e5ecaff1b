/* SPDX-License-Identifier: MIT */
/* What a unit's program finds in its environment. In the child alone: the arrays are its own. */
#ifndef BOOTLAB_INIT_ENVIRONMENT_H
#define BOOTLAB_INIT_ENVIRONMENT_H

#include <sys/types.h>

#include "units/units.h"

/* NULL when it does not fit. */
char *const *environment_build(const struct unit *unit, pid_t main, const char *notify_name, unsigned n_sockets);

/* The words with ${NAME} and $NAME replaced, as systemd does: $NAME alone becomes as many words as it has. */
const char *const *environment_expand(const char *const *argv, char *const *environment);

#endif
