/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Disks that take the time of modelled ones: the model decides when the guest sees QEMU's answer. */
#ifndef BOOTLAB_MODELLED_DISKS_H
#define BOOTLAB_MODELLED_DISKS_H

#include <stdbool.h>
#include <stdint.h>

/* Where each request is written down, and what is written (trace_format.h); NULL: nowhere. 0 or -errno. */
int modelled_disks_log(const char *requests, const char *writes);

/*
 * Take over the disks of the config; the trace says of each whether it works. From a vCPU's thread, holding no lock. A machine that
 * goes on from where another was kept ends where its disks cannot.
 */
void modelled_disks_open(void);

/* The machine stands still for good: write down its disks in the middle of their work, and leave the rings to who goes on. */
void modelled_disks_keep(void);

/* Whether the drive of this name is one, and works. */
bool modelled_disks_has(const char *drive);

/* Whether there is any. */
bool modelled_disks_work(void);

/* Behind each store to a device: the guest may have rung, or set up a ring. Whether all disks were waited for because of it. */
bool modelled_disks_stored(const char *region, uint64_t address);

#endif
