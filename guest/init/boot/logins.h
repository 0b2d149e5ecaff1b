/* SPDX-License-Identifier: MIT */
/*
 * The records of utmp and wtmp, which who(1) and last(1) read: when the machine came up, in which runlevel, which terminal
 * waits for a login, whose login has ended, and when it went down. A file that is not there is not made, but for /run/utmp
 * at boot; one that somebody keeps locked for a second goes without.
 */
#ifndef BOOTLAB_INIT_LOGINS_H
#define BOOTLAB_INIT_LOGINS_H

#include <sys/types.h>

/* The machine is up, in this runlevel. 0 or -errno. */
int logins_boot(char level);

/* This process is about to ask for a login at `tty`. */
void logins_begin(const char *tty);

/* Process `pid` has ended, which asked for a login there, or was one. */
void logins_end(const char *tty, pid_t pid);

/* The machine goes down. */
void logins_shutdown(void);

#endif
