/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of the config about disks. */
#ifndef BOOTLAB_CONFIG_DISK_LINES_H
#define BOOTLAB_CONFIG_DISK_LINES_H

#include <stdbool.h>

#include "config.h"
#include "line.h"

/* Whether the line is one of them; `*ret` is then 0, or -errno as of the line's own functions. */
bool disk_lines_read(struct line *line, struct config *config, int *ret);

#endif
