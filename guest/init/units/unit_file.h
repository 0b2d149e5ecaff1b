/* SPDX-License-Identifier: MIT */
/* bootlab's own unit files, NAME.unit: a key and its value on each line; docs/init.md lists the keys. */
#ifndef BOOTLAB_INIT_UNIT_FILE_H
#define BOOTLAB_INIT_UNIT_FILE_H

#include "units.h"

/* Add the unit that a file at `path` describes. NULL when there is no room. */
struct unit *unit_file_begin(struct units *units, struct slice name, const char *path);

/* Take what its file says, then each of its drop-ins, in order; `path` stays there. In an instance NAME@WORD of a template %i is WORD. */
void unit_file_read(const char *path, const char *text, size_t size);

/* That is all of it. */
void unit_file_finish(void);

/* All of that for a unit of one file: add the unit that `text` describes. NULL when there is no room; what is wrong with it is complained about. */
struct unit *unit_file_parse(struct units *units, struct slice name, const char *path, const char *text, size_t size);

#endif
