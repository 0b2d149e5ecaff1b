/* SPDX-License-Identifier: MIT */
/*
 * The end: units in order, then every process, then file systems, then the machine; each step has a deadline, and so has the
 * whole. What may hang (sync, umount) is done by a child that PID 1 does not have to wait for.
 */
#ifndef BOOTLAB_INIT_SHUTDOWN_H
#define BOOTLAB_INIT_SHUTDOWN_H

#include <stdbool.h>
#include <stdint.h>

enum ending { END_POWER_OFF, END_REBOOT, END_HALT };

/* `contained`: the mounts and the machine belong to somebody else. */
void shutdown_init(int64_t timeout_ns, bool contained);

/* Pre-empts whatever the system is doing. Asked a third time, it ends at once. */
void shutdown_begin(enum ending ending);

bool shutdown_has_begun(void);

/* Go on as far as possible; when to come back. */
int64_t shutdown_step(int64_t now_ns);

#endif
