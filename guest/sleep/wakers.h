/* SPDX-License-Identifier: MIT */
/* What may wake a machine that sleeps: its keyboards, the alarm of its clock. */
#ifndef BOOTLAB_SLEEP_WAKERS_H
#define BOOTLAB_SLEEP_WAKERS_H

#define WAKERS_CLOCK "/sys/class/rtc/rtc0/"
#define WAKERS_ALARM WAKERS_CLOCK "wakealarm"

/* Keyboards on PS/2 may not wake a machine that idles before somebody says so. 0 or -errno. */
int wakers_let_keyboards(void);

/*
 * N seconds from now, or at @TIME, in seconds since 1970, by its clock. 0 or -errno; -ETIME: that time is over, and the kernel would
 * take it for an order to set no alarm.
 */
int wakers_set_alarm(const char *word);

#endif
