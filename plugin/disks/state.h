/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A modelled disk in the middle of its work, kept in a file for a process that goes on from there: the same build of this plugin
 * with the same config, so that its structs are written as they lie in memory. No QEMU headers.
 */
#ifndef BOOTLAB_DISK_STATE_H
#define BOOTLAB_DISK_STATE_H

#include <stdio.h>

#include "model.h"

/* 0 or -errno. */
int disk_state_write(FILE *file, const struct disk_model *model);

/* The same into a model of the same kind and figures, newly made. 0, or -EINVAL for a file that is none of it. */
int disk_state_read(FILE *file, struct disk_model *model);

#endif
