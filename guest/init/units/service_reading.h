/* SPDX-License-Identifier: MIT */
/* A .service file on its way to a unit: where its reader is, and how it says what is wrong there. Only for service_*.c. */
#ifndef BOOTLAB_INIT_SERVICE_READING_H
#define BOOTLAB_INIT_SERVICE_READING_H

#include "unit_settings.h"
#include "units.h"

enum { SERVICE_LINE_BYTES = 4096, SERVICE_IGNORED_BYTES = 200 };

struct service_reading {
	struct units *units;
	struct unit *unit;
	const char *path; /* of the file or drop-in that is being read */
	unsigned line;
	const char *key;
	bool is_words; /* its value is words: what is filled in is part of one */
	struct environment_words environment;
	char ignored[SERVICE_IGNORED_BYTES];
	unsigned n_ignored, remains_line; /* RemainAfterExit=yes; 0: it does not say so */
	bool start_only; /* PermissionsStartOnly=yes */
};

/* The value of the key is none: the line is ignored. */
void service_wrong(struct service_reading *reading, const char *expected);

/* systemd would do something else than what is done here: then it is not done at all. */
void service_refuse(struct service_reading *reading, const char *what);

/*
 * The value with systemd's specifiers filled in, as the system's manager does (systemd.unit(5)). False when there is one that only
 * the running system knows.
 */
bool service_fill_in(struct service_reading *reading, struct slice value, char *ret, size_t room, struct slice *ret_value);

/* One setting with the lines that a backslash joins to it, in `joined`. False at the end of the file. */
bool service_line(struct service_reading *reading, struct lines *lines, char *joined, struct slice *ret);

#endif
