/* SPDX-License-Identifier: MIT */
/*
 * How many descriptors a process may have: PID 1 as many as it can watch, since it holds some for each unit; programs what PID 1
 * was started with, or what init.conf says, since some of them close all that there could be.
 */
#ifndef BOOTLAB_INIT_LIMITS_H
#define BOOTLAB_INIT_LIMITS_H

#include <stdbool.h>
#include <sys/resource.h>

/* Raise PID 1's own limit to `wanted`: up to the hard limit, and past it only where the machine is its own. */
void limits_raise(rlim_t wanted, bool owns_machine);

/* What programs get from now on. 0 or -errno. */
int limits_set_files(rlim_t files);

/* In a child, one of systemd's services: as systemd has it, unless limits_set_files was called. */
void limits_of_service(void);

/* In a child: as programs have it. */
void limits_give_back(void);

#endif
