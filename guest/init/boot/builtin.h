/* SPDX-License-Identifier: MIT */
/*
 * Early boot without a process: units whose work is done by PID 1 itself, or by a fork of it where it may have to wait for a
 * disk or a device. They answer to the names of the scripts that they replace, so those are never started.
 */
#ifndef BOOTLAB_INIT_BUILTIN_H
#define BOOTLAB_INIT_BUILTIN_H

#include "units/config.h"
#include "units/units.h"

/* Add those that this system has a use for: `root` as for load_units. */
void builtin_add(struct units *units, const struct config *config, const char *root);

#endif
