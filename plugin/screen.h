/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks at the guest's screen at times of the virtual clock, and types on its keyboard.
 *
 * The guest notices the keys, and nothing of the looks: QEMU draws the picture while the guest stands still.
 */
#ifndef BOOTLAB_SCREEN_H
#define BOOTLAB_SCREEN_H

#include <stdbool.h>

#include "records/writer.h"

/* Where the pictures go; NULL: nowhere. 0 or -errno. */
int screen_log(const char *path);

/*
 * Before the first block runs, holding no lock of ours: find screen and keyboard, and begin to look, where the config asks for
 * that; the trace says whether it works. `reached` is called for each mark of the screen and each typing behind its record, with
 * the recording's lock held; `left` gives that lock back.
 */
void screen_open(void (*reached)(const char *name), void (*left)(void));

/* With the recording's lock held: a mark of any kind was reached. */
void screen_follow(const char *name, struct stamp at);

/* With the recording's lock held, ahead of the trace's end. `by_mark`: the one that ends the boot was reached. */
void screen_close(bool by_mark);

#endif
