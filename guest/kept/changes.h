/* SPDX-License-Identifier: MIT */
/*
 * What a system writes over its root: an overlay whose upper layer is in memory, is written to a disk when the system says so
 * (store.h), and is there again at the next start.
 *
 * Taken is the newest that is whole, lies over this very image, and was not on trial in three starts of which none became ready.
 */
#ifndef BOOTLAB_KEPT_CHANGES_H
#define BOOTLAB_KEPT_CHANGES_H

#include "plan.h"

/*
 * In the initramfs, with the root mounted on `base`: mount it on `folder`, with room for changes over it and those that are taken.
 * What is not taken is said. 0, or -1 where nothing is mounted on `folder`, with the reason.
 */
int changes_mount(const struct plan *plan, const char *base, const char *folder);

/* In the root, once the system is ready: what was taken was no reason for it to hang. 0, or -1 with the reason. */
int changes_pass(const struct plan *plan);

/* In the root: write them to the disk where they are not there yet. 0, or -1 with the reason. */
int changes_save(const struct plan *plan, void (*half)(void));

#endif
