/* SPDX-License-Identifier: MIT */
/* Leave every file system clean: swap off, unmount from the last mount to the first, what is busy made read-only. May hang. */
#ifndef BOOTLAB_INIT_UNMOUNT_H
#define BOOTLAB_INIT_UNMOUNT_H

#include <stdbool.h>

/* Whether the root is read-only now. */
bool unmount_all(void);

#endif
