/* SPDX-License-Identifier: MIT */
/* Makes of systemd's targets what services are ordered through: what is after one waits for what is before it. */
#ifndef BOOTLAB_INIT_TARGETS_H
#define BOOTLAB_INIT_TARGETS_H

#include "units.h"

/* After all files have been read, and before names are resolved. */
void targets_make(struct units *units);

#endif
