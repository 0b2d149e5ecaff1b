/* SPDX-License-Identifier: MIT */
/*
 * A fault in PID 1 itself must not end it: that would panic the kernel. It says what happened, straight to the console, and
 * then, as init.conf's on-crash says: goes on reaping (the services run on, nobody watches them), opens a shell, or reboots.
 */
#ifndef BOOTLAB_INIT_CRASH_H
#define BOOTLAB_INIT_CRASH_H

#include <stdbool.h>

#include "units/config.h"

void crash_init(int console, bool contained);
void crash_config(const struct config *config);

#endif
