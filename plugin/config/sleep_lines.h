/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of the config about a guest that sleeps. */
#ifndef BOOTLAB_CONFIG_SLEEP_LINES_H
#define BOOTLAB_CONFIG_SLEEP_LINES_H

#include "line.h"

/* Reads `asleep` and `press`. 0 or -errno. */
int asleep_line_read(struct line *line, struct config *config);
int press_line_read(struct line *line, struct config *config);

#endif
