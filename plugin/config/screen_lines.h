/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The config's words about the guest's screen and keyboard: screen painted pictured answers idle region picture typed key. */
#ifndef BOOTLAB_CONFIG_SCREEN_LINES_H
#define BOOTLAB_CONFIG_SCREEN_LINES_H

#include <stdbool.h>

#include "config.h"
#include "line.h"

/* Whether the line is one of these words; `ret` is then 0 or -errno. */
bool screen_lines_read(struct line *line, struct config *config, int *ret);

/* Whether one of them makes a mark of this name. */
bool screen_lines_have(const struct config *config, const char *name);

#endif
