/* SPDX-License-Identifier: MIT */
/*
 * Which files of a system are units: /etc/bootlab/units, then the .service files that a target wants, then init scripts.
 * A name that an earlier one has taken is left to it, so a script whose work is built in is never started.
 */
#ifndef BOOTLAB_INIT_LOAD_H
#define BOOTLAB_INIT_LOAD_H

#include "config.h"
#include "units.h"

/* Read /etc/bootlab/init.conf, if it is there, below the folder `root` ("" for /). */
void load_config(struct units *units, struct config *config, const char *root);

/* Read all units of the system at `root`. Built-in units have been added before. */
void load_units(struct units *units, const struct config *config, const char *root);

/* Then one more: NAME@WORD of a template, which nothing has named so far. Where there is no such template nothing happens. */
void load_instance(struct units *units, const struct config *config, const char *root, struct slice name);

/* Complain about units that may take longer to stop than a shutdown lets them. For who looks at the files before a boot. */
void load_check_times(struct units *units, const struct config *config);

/* Whether fstab at `root` has a file system that comes over the network; false, too, where no unit could ask. */
bool load_has_network_file_systems(const struct units *units, const char *root);

#endif
