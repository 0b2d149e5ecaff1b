/* SPDX-License-Identifier: MIT */
/* A machine that is suspended, to RAM or to idle. */
#ifndef BOOTLAB_SLEEP_SUSPEND_H
#define BOOTLAB_SLEEP_SUSPEND_H

/* `state`: as /sys/power/state has it, `mem` or `freeze`. Comes back when the machine has woken, with 0, or EXIT_FAILED. */
int suspend(const char *state);

#endif
