/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of the config about a machine that goes on from a moment of its boot. */
#ifndef BOOTLAB_CONFIG_PAST_LINES_H
#define BOOTLAB_CONFIG_PAST_LINES_H

#include "line.h"

/* Reads `slide` and `past`. 0 or -errno. */
int slide_line_read(struct line *line, struct config *config);
int past_line_read(struct line *line, struct config *config);

#endif
