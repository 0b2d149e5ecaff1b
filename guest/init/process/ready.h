/* SPDX-License-Identifier: MIT */
/*
 * How a unit says that it is ready, where its exit does not: sd_notify(3), s6's readiness descriptor, a pid file.
 *
 * Each unit that notifies gets a socket of its own at an abstract address that the kernel chose. So a message is attributed
 * by where it arrived, even from a helper that is gone when it is read; nothing can take the address before; and a full or
 * read-only /run does not matter. Who may write there is checked by the credentials that come with each message.
 */
#ifndef BOOTLAB_INIT_READY_H
#define BOOTLAB_INIT_READY_H

#include "units/units.h"

/* 0 or -errno; runs[id].notify_fd and notify_name are set. One that is open stays. */
int ready_open_notify(unit_id id);

void ready_fd_readable(int fd, unsigned id);

/* Take the messages that wait, before what follows from the exit of a process is decided. */
void ready_drain_notify(unit_id id);

/* Whether the pid file names a process of ours: that becomes the unit's main process. */
bool ready_look_at_pidfile(unit_id id);

/* Whether `pid` is a child of PID 1 that has not been reaped. */
bool ready_is_child(int pid);

#endif
