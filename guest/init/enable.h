/* SPDX-License-Identifier: MIT */
/* Says in a file whether a unit is started at boot: a drop-in, or for an instance of a template a link. */
#ifndef BOOTLAB_INIT_ENABLE_H
#define BOOTLAB_INIT_ENABLE_H

#include <stdbool.h>

/* In the system whose root is `root` ("" for /). What was done, or is wrong, is printed; 0, or not. */
int enable_unit(const char *root, const char *name, bool enable);

#endif
