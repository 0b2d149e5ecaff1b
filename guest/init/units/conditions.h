/* SPDX-License-Identifier: MIT */
/* What must hold for a unit to be started: files, words of the kernel's command line, the machine. Looked at just before it would be. */
#ifndef BOOTLAB_INIT_CONDITIONS_H
#define BOOTLAB_INIT_CONDITIONS_H

#include "units.h"

enum condition_kind {
	CONDITION_PATH,
	CONDITION_KERNEL_WORD,
	CONDITION_ARCHITECTURE,
	/* systemd's services alone have those below. */
	CONDITION_FOLDER,
	CONDITION_LINK,
	CONDITION_WRITABLE,
	CONDITION_FILE_NOT_EMPTY,
	CONDITION_FILE_EXECUTABLE,
	CONDITION_FOLDER_NOT_EMPTY,
	CONDITION_CONTAINER,
};

struct condition {
	const char *text;  /* what is looked for */
	const char *said;  /* as its file has it, for messages */
	uint16_t line;
	uint8_t kind;
	bool negated;
	bool one_of;	   /* of all such conditions one is enough */
	bool must;	   /* without it the unit has failed, and is not just left out */
	struct condition *next;
};

/* `condition` of a unit file: [not] path|kernel-word|architecture WORD. NULL, or what was expected instead. */
const char *condition_add(struct units *units, struct unit *unit, struct slice value, unsigned line);

/*
 * Of a .service file: `kind` is what follows Condition or Assert in the key. False when there is no such kind here; `*ret_expected` is
 * NULL, or what was expected instead of the value.
 */
bool condition_add_service(struct units *units, struct unit *unit, struct slice kind, struct slice value, struct condition how,
			   const char **ret_expected);

/* The first one that does not hold now, or NULL. */
const struct condition *condition_unmet(const struct unit *unit);

#endif
