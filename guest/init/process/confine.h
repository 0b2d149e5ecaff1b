/* SPDX-License-Identifier: MIT */
/* In a child, between fork and exec: take away what its unit's file does not let it have. All of it -errno or 0. */
#ifndef BOOTLAB_INIT_CONFINE_H
#define BOOTLAB_INIT_CONFINE_H

#include "units/confinement.h"

int confine_resources(const struct confinement *confinement);

/* Before it becomes another user: the bounding set, and that what is to be kept is not lost by that. */
int confine_before_user(const struct confinement *confinement);

/* After it: what is kept, and that nothing can be had any more by a program's set-user-ID bit or file capabilities. */
int confine_after_user(const struct confinement *confinement);

#endif
