/* SPDX-License-Identifier: MIT */
/*
 * Waiting: for descriptors, signals and the next deadline, in one place. epoll where the kernel has it and gives a
 * descriptor for it, else ppoll. Signals are blocked except while waiting, so nothing ever runs in the middle of something.
 */
#ifndef BOOTLAB_INIT_LOOP_H
#define BOOTLAB_INIT_LOOP_H

#include <stdbool.h>
#include <stdint.h>

typedef void loop_fn(int fd, unsigned argument);

/* Pages of the table that nothing touches are not there. */
enum { MAX_FDS = 1 << 16, MAX_SIGNAL = 64 };

/* Block signals, and count those that PID 1 answers to. `use_epoll` false: as on a kernel without it. */
void loop_init(bool use_epoll);

/* In a child: what comes from now on ends it, as it would any program. */
void loop_become_child(void);

/* Call `fn` whenever `fd` can be read or has ended. 0 or -errno. */
int loop_watch(int fd, loop_fn *fn, unsigned argument);

/* Leave `fd` alone for a while, and take it up again; what is not watched, or not paused, stays as it is. */
void loop_pause(int fd);
void loop_resume(int fd);

/* Watch it no more; it stays open. */
void loop_forget(int fd);

/* Forget and close `*fd`, and make it -1. */
void loop_close(int *fd);

/* Wait until `deadline_ns` (INT64_MAX: for ever) at most, and call what is due. */
void loop_wait(int64_t deadline_ns);

/* Whether this signal has come since the last time it was asked for. */
bool loop_signal(int number);

#endif
