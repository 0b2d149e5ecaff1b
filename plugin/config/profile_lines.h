/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The config's lines for the profile: what is hooked, where members of structs are, the functions file. */
#ifndef BOOTLAB_PROFILE_LINES_H
#define BOOTLAB_PROFILE_LINES_H

#include <stdbool.h>

#include "config.h"
#include "line.h"

/* Read `line` if its first word is one of these, with 0 or -errno in `*ret`; false: it is none of them. */
bool profile_lines_read(struct line *line, struct config *config, int *ret);

#endif
