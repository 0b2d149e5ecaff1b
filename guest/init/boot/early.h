/* SPDX-License-Identifier: MIT */
/*
 * The work of the built-in units, each 0 or -errno. What this machine has not got (no network in the kernel, nothing to load)
 * is no failure; what a setting asks for and cannot be had is, and is said in the log.
 */
#ifndef BOOTLAB_INIT_EARLY_H
#define BOOTLAB_INIT_EARLY_H

#include <stdbool.h>
#include <stddef.h>

#include "units/config.h"

void early_init(const struct config *config);

/* The next line of init.conf with this key, from `*at` on; NULL at the end. */
const struct setting *early_next_setting(const char *key, size_t *at);

/* Say what such a line could not get, if `r` is an error; the unit's result, which its first error is. */
int early_complain(const struct setting *setting, int r, int first);

/* The same of one of its words. */
int early_complain_word(const struct setting *setting, size_t word, int r, int first);

int early_basics(void);
int early_hostname(void);
int early_folders(void);
int early_limits(void);
int early_seed(void);
int early_sysctl(void);
int early_modules(void);
int early_file_systems(void);
int early_logins(void);

/* Keep a new seed for the next boot; at shutdown. */
void early_save_seed(void);

#endif
