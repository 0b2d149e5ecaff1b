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

#include "loop.h"
#include "units/units.h"

/* What is done about a unit that has said that it is ready. */
typedef void ready_fn(unit_id id);

/* 0 or -errno; runs[id].notify_fd and notify_name are set, and `readable` is called when a message waits. One that is open
 * stays. */
int ready_open_notify(unit_id id, loop_fn *readable);

/* Take the messages that wait. One may say that the unit is ready: `ready` is called at once, before the next is read. */
void ready_drain_notify(unit_id id, ready_fn *ready);

enum ready_line { LINE_AWAITED, LINE_WRITTEN, LINE_MISSING };

/* What has come through runs[id].ready_fd, which is closed unless the line is still awaited. */
enum ready_line ready_read_line(unit_id id);

/* Whether the pid file names a process that the unit may have: that becomes its main process. */
bool ready_look_at_pidfile(unit_id id);

/* Whether the process that was announced as the next main one has become our child, and may be it: then it is. */
bool ready_adopt_announced(unit_id id);

#endif
