/* SPDX-License-Identifier: MIT */
/* Makes this machine the one that an identity says: each step 0 or -errno, and each only if the identity says something of it. */
#ifndef BOOTLAB_CLONE_CHANGE_H
#define BOOTLAB_CLONE_CHANGE_H

#include "identity.h"

/* The seed counts at once: the next random number that anybody is given is this clone's own. */
int change_random(const struct identity *identity);
/*
 * A clock never goes back: what was signed since would not be valid yet. One that was told to stays as it is, and
 * `ret_behind_us` is by how much the time that it was told is behind it, else 0.
 */
int change_clock(const struct identity *identity, int64_t *ret_behind_us);
int change_host_name(const struct identity *identity);
/* /etc/machine-id; where /etc cannot be written, a file mounted over it. */
int change_machine_id(const struct identity *identity);
/* Of the first card that is not `lo`; -ENODEV: there is none. */
int change_mac(const struct identity *identity);

/* The programs in `folder`, in the order of their names, one after the other; returns how many failed, each told on stderr. */
unsigned change_by_programs(const char *folder);

#endif
