/* SPDX-License-Identifier: MIT */
/*
 * A useful subset of systemd's .service files and their drop-ins; docs/init.md lists the settings. What is not in it is complained
 * about once a unit, in one line: a unit whose sandbox is ignored should be known. What would be run differently is refused, with
 * file and line, and the unit is not started.
 */
#ifndef BOOTLAB_INIT_SERVICE_FILE_H
#define BOOTLAB_INIT_SERVICE_FILE_H

#include "units.h"

/* Add the unit that NAME.service at `path` describes (`name` is without .service), not enabled. NULL when there is no room. */
struct unit *service_file_begin(struct units *units, struct slice name, const char *path);

/* Take what its file says, then each of its drop-ins, in order. */
void service_file_read(const char *path, const char *text, size_t size);

/* That is all of it. */
void service_file_finish(void);

#endif
