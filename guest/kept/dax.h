/* SPDX-License-Identifier: MIT */
/* Whether a file is mapped where it lies (DAX), as the kernel says of it. */
#ifndef BOOTLAB_KEPT_DAX_H
#define BOOTLAB_KEPT_DAX_H

/* 1 where it is, 0 where it is copied into the page cache, -errno. */
int dax_of_file(const char *path);

#endif
