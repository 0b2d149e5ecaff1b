/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the guest has written to its 16550: how many bytes by when, line by line. Only x86 has ports to watch. */
#ifndef BOOTLAB_CONSOLE_H
#define BOOTLAB_CONSOLE_H

#include <stddef.h>
#include <stdint.h>

#include "qemu_plugin_api.h"

/* The UART's first port; 0: there is none to watch. */
void console_open(uint16_t port);

/* Watch the block's `out` instructions. */
void console_watch(struct qemu_plugin_tb *tb, size_t n_insns);

/* Write down the bytes that have been sent since the last time. With the lock held. */
void console_report(void);

#endif
