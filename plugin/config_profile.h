/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The config's lines for the profile: what is hooked, where members of structs are, the functions file. */
#ifndef BOOTLAB_CONFIG_PROFILE_H
#define BOOTLAB_CONFIG_PROFILE_H

#include <stdbool.h>

#include "config.h"
#include "config_line.h"

/* Read `line` if its first word is one of these, with 0 or -errno in `*ret`; false: it is none of them. */
bool config_profile_read(struct line *line, struct config *config, int *ret);

#endif
