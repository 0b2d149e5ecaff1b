/* SPDX-License-Identifier: MIT */
/*
 * A useful subset of systemd's .service files; docs/init.md lists the settings. What is not in it is complained about once
 * a file, in one line: a unit whose sandbox is ignored should be known.
 */
#ifndef BOOTLAB_INIT_SERVICE_FILE_H
#define BOOTLAB_INIT_SERVICE_FILE_H

#include "units.h"

/* Add the unit that NAME.service describes (`name` is without .service), not enabled. NULL when there is no room. */
struct unit *service_file_parse(struct units *units, struct slice name, const char *path, const char *text, size_t size);

#endif
