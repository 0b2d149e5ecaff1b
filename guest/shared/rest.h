/* SPDX-License-Identifier: MIT */
/* Whether the machine has nothing to do, by the kernel's own count of what its processors did (proc(5), /proc/stat). */
#ifndef BOOTLAB_SHARED_REST_H
#define BOOTLAB_SHARED_REST_H

#include <stdbool.h>

/*
 * Wait until for half a second nine tenths of the processors' time was idle and no disk was waited for, `most_s` seconds at most.
 * False where that never came, or where there is no /proc.
 */
bool rest_await(unsigned most_s);

/* The ticks of all processors since power-on, of them idle with no disk to wait for. False where `text` is none. For tests. */
bool rest_ticks(const char *text, unsigned long long *ret_idle, unsigned long long *ret_all);

#endif
