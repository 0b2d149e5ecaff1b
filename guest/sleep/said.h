/* SPDX-License-Identifier: MIT */
/* What the kernel's command line asks of the program, and what the program says on its console. */
#ifndef BOOTLAB_SLEEP_SAID_H
#define BOOTLAB_SLEEP_SAID_H

#include <stdbool.h>
#include <stddef.h>

enum { EXIT_FAILED = 1 };

/* The value of a word of the kernel's command line; false: it is not there. */
bool read_word(const char *name, char *ret, size_t size);

void make_mark(const char *name);

/* Says that the machine stays awake, and why; `r`: -errno. Returns EXIT_FAILED. */
int fail_to_sleep(const char *what, int r);

#endif
