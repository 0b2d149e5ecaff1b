/* SPDX-License-Identifier: MIT */
/*
 * Reads the system's files: at boot, and anew when somebody asks for it. What runs then goes on as it was started, until it is down; what
 * is new is there to be started; what has no file any more ends when it is stopped.
 */
#ifndef BOOTLAB_INIT_RELOAD_H
#define BOOTLAB_INIT_RELOAD_H

#include <stddef.h>

#include "units/config.h"
#include "units/units.h"

/* All units, as the files say now; `config` is read, too. */
struct units *reload_first(struct config *config);

/*
 * Read all unit files again (init.conf is of the boot alone), and one more instance of a template if `name` is one that nothing has named
 * so far. 0, and what has become of them in words; -errno, and all is as before.
 */
int reload_units(struct slice name, char *ret_said, size_t size);

#endif
