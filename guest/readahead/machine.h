/* SPDX-License-Identifier: MIT */
/* The machine that something was learned on, as it can be known again; and lines for whoever looks after it. */
#ifndef BOOTLAB_READAHEAD_MACHINE_H
#define BOOTLAB_READAHEAD_MACHINE_H

#include <stdint.h>

#include "pack.h"

/* The program's name: each defines its own. */
extern const char said_by[];

/* On standard error and, since nobody reads that while a system starts, in the kernel's log. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/* Of the file system that this folder is on. */
int64_t root_identity(int root);

/* Changes when a package does: the time and size of what the package manager knows. */
int64_t packages_identity(int root);

void kernel_name(char ret[PACK_NAME]);

#endif
