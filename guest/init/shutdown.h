/* SPDX-License-Identifier: MIT */
/*
 * The end: units in order, then every process, then file systems, then the machine; each step has a deadline, and so has the
 * whole. What may hang (sync, umount) is done by a child that PID 1 does not have to wait for; it is done always, in a time of its
 * own at the least, however little the rest has left.
 */
#ifndef BOOTLAB_INIT_SHUTDOWN_H
#define BOOTLAB_INIT_SHUTDOWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum ending { END_POWER_OFF, END_REBOOT, END_HALT };

/* `contained`: the mounts and the machine belong to somebody else. `owns_machine`: the kernel is asked for the last resort. */
void shutdown_init(int64_t timeout_ns, bool contained, bool owns_machine);

/* Pre-empts whatever the system is doing. Asked three times within 2 s, it waits for no unit and no process any more. */
void shutdown_begin(enum ending ending);

bool shutdown_has_begun(void);

/* Go on as far as possible; when to come back. */
int64_t shutdown_step(int64_t now_ns);

/* A child has been reaped: it may be the one that has unmounted everything. */
void shutdown_reaped(pid_t pid, int status);

#endif
