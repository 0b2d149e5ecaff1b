/* SPDX-License-Identifier: MIT */
/*
 * Large static buffers lie together behind all other variables (large.ld). Among them each would part its neighbours by pages, and a
 * page costs process 1 five thousand instructions when it is touched first, and as much again in each fork that writes to it.
 */
#ifndef BOOTLAB_SHARED_LARGE_H
#define BOOTLAB_SHARED_LARGE_H

#define LARGE __attribute__((section(".bss.large")))

/* The one of which mostly the beginning alone is written to, each time there is a fork: it begins in the page where the others end. */
#define LARGE_FIRST __attribute__((section(".bss.large.first")))

#endif
