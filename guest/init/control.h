/* SPDX-License-Identifier: MIT */
/*
 * bootlab-ctl's side in PID 1: one request a connection, a line `VERB [UNIT [wait]]`; the answer, and the end. With `wait` the
 * answer comes when the unit is what it was to become, or cannot. A report is written
 * by a fork, which has all of PID 1's memory as it was at that moment and may wait for its reader.
 */
#ifndef BOOTLAB_INIT_CONTROL_H
#define BOOTLAB_INIT_CONTROL_H

#include <stdint.h>

#define CONTROL_PATH "/run/bootlab/control"

enum { REQUEST_BYTES_MAX = 256 };

/* Listen, if that is possible by now; again after SIGHUP. 0 or -errno. */
int control_open(void);

/* Make room for those who wait, if all places are taken by who says nothing; when to look again. */
int64_t control_step(int64_t now_ns);

#endif
