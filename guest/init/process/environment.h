/* SPDX-License-Identifier: MIT */
/* What a unit's program finds in its environment. In the child alone: the arrays are its own. */
#ifndef BOOTLAB_INIT_ENVIRONMENT_H
#define BOOTLAB_INIT_ENVIRONMENT_H

#include <sys/types.h>

#include "passwd.h"
#include "units/units.h"

/* NULL, with errno, when it does not fit, or a file of it is not there. */
char *const *environment_build(const struct unit *unit, const struct identity *identity, pid_t main, const char *notify_name,
			       unsigned n_sockets, bool is_main);

/* The words with ${NAME} and $NAME replaced, as systemd does: $NAME alone becomes as many words as it has. */
const char *const *environment_expand(const char *const *argv, char *const *environment);

#endif
