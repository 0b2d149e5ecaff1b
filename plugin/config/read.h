/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The config file (trace_format.h) -> what to watch for: all its lines, and whether they fit together. */
#ifndef BOOTLAB_CONFIG_READ_H
#define BOOTLAB_CONFIG_READ_H

#include <stddef.h>
#include <stdio.h>

#include "config.h"

/*
 * Read a whole config; `path` is for messages only. On failure returns -EINVAL or -ENOMEM with one line, "path:line: what",
 * in `message`; then nothing needs freeing.
 */
int config_read(FILE *file, const char *path, char *message, size_t message_size, struct config *ret);

#endif
