/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is awake while the guest sleeps: its clock goes on, and a key is pressed at a time that repeats.
 */
#ifndef BOOTLAB_SLEEPER_H
#define BOOTLAB_SLEEPER_H

#include <stdbool.h>

#include "records/writer.h"

/* Before the first block runs, holding no lock of ours: find what the config asks for, and tell the trace. */
void sleeper_open(void);

/* With the recording's lock held: a mark is made. */
void sleeper_keep_mark(const char *name, struct stamp at);

/* Behind a mark, holding no lock of ours: begin what it was the beginning of. */
void sleeper_begin(void);

#endif
