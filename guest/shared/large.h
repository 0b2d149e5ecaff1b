/* SPDX-License-Identifier: MIT */
/*
 * Large static buffers lie together behind all other variables (large.ld). Among them each would part its neighbours by pages, and a
 * page costs process 1 five thousand instructions when it is touched first, and as much again in each fork that writes to it.
 */
#ifndef BOOTLAB_SHARED_LARGE_H
#define BOOTLAB_SHARED_LARGE_H

#define LARGE __attribute__((section(".bss.large")))

#endif
