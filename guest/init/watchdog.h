/* SPDX-License-Identifier: MIT */
/* The hardware watchdog, fed by the event loop: when PID 1 is stuck, the machine restarts. */
#ifndef BOOTLAB_INIT_WATCHDOG_H
#define BOOTLAB_INIT_WATCHDOG_H

#include <stdint.h>

/* Look for it until it is there. Feed it when it is time; when to come back. */
int64_t watchdog_step(const char *path, int64_t timeout_ns, int64_t now_ns);

#endif
