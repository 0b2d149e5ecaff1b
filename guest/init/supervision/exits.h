/* SPDX-License-Identifier: MIT */
/* What the end of a process means for its unit: the next command, ready, failed, or nothing. */
#ifndef BOOTLAB_INIT_EXITS_H
#define BOOTLAB_INIT_EXITS_H

#include <sys/resource.h>
#include <sys/types.h>

/* A child has ended and is not reaped yet: what is left of its process group goes with it. */
void exits_zombie(pid_t pid);

/* It is reaped, with what wait4(2) says of it. */
void exits_reaped(pid_t pid, int status, const struct rusage *used);

#endif
