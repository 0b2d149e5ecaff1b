/* SPDX-License-Identifier: MIT */
/* Init scripts as units, and the facilities ($network, ...) that they mention: insserv.conf. */
#ifndef BOOTLAB_INIT_LSB_UNIT_H
#define BOOTLAB_INIT_LSB_UNIT_H

#include "units.h"

enum { LEVEL_S = 7 };

struct lsb_source {
	struct slice script;	 /* file name in /etc/init.d */
	const char *script_path; /* what is executed */
	const char *header_path; /* the script itself, or the override that its header is taken from */
	const char *text;	 /* of header_path */
	size_t size;
};

/* Add the script as a unit. NULL when it cannot be one: no header, or no room; that is complained about. */
struct unit *lsb_unit_parse(struct units *units, const struct lsb_source *source);

/* Read insserv.conf or a file of insserv.conf.d. */
void facilities_parse(struct units *units, const char *path, const char *text, size_t size);

/* Debian's insserv.conf, for systems that have none. */
void facilities_default(struct units *units);

/* Names that insserv leaves alone: *.dpkg-old, *~, .hidden, README, ... */
bool lsb_is_script_name(struct slice name);

#endif
