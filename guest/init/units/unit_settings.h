/* SPDX-License-Identifier: MIT */
/* Settings that unit files of both formats have, whatever their keys are called there. */
#ifndef BOOTLAB_INIT_UNIT_SETTINGS_H
#define BOOTLAB_INIT_UNIT_SETTINGS_H

#include "units.h"

struct environment_words {
	const char *word[MAX_WORDS];
	size_t n;
};

/* Words NAME=VALUE behind those that are there. False, and none of them, when one is no such word or too many. */
bool environment_add(struct units *units, struct environment_words *environment, struct slice value);

/* Make them those of the unit. */
void environment_give(struct units *units, struct unit *unit, const struct environment_words *environment);

/* Words that the unit answers to, without `suffix` where they end so. */
void unit_names_add(struct units *units, struct unit *unit, struct slice value, const char *suffix, unsigned line);

/* Folders below /run that are made before it starts. NULL, or what was expected instead. */
const char *unit_run_folders_set(struct units *units, struct unit *unit, struct slice value);

/* Files of variables behind those that are there, each by its full path, with a - before it if it may be missing. NULL, or what was
 * expected instead. */
const char *unit_environment_files_add(struct units *units, struct unit *unit, struct slice value);

/* Octal digits. NULL, or what was expected instead. */
/* Octal digits, `most` at the most. 0 or -EINVAL. */
int unit_mode_parse(struct slice value, unsigned most, uint16_t *ret);

const char *unit_umask_set(struct unit *unit, struct slice value);

enum unit_number { NUMBER_NICE, NUMBER_OOM, NUMBER_RESTART_LIMIT };

/* NULL, or what was expected instead. */
const char *unit_number_set(struct unit *unit, struct slice value, enum unit_number which);

/* yes or no into `flag`, turned round if `inverted`; NULL, or what was expected instead. */
const char *unit_flag_set(bool *flag, struct slice value, bool inverted);

#endif
