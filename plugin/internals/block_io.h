/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finishes what the guest's disks were asked for, at once. No QEMU headers.
 *
 * QEMU hands a disk's request to another thread and goes on with the guest; when the answer comes is the host's to say. Here
 * the vCPU's thread waits for it inside of the store that rang the device's doorbell: the guest's next instruction finds the
 * data in its memory and the interrupt raised. So storage takes no time at all, whatever the host does.
 *
 * That is exact for one request at a time. The answers of several come in the order in which QEMU's worker threads are
 * done, and the guest sees that order.
 */
#ifndef BOOTLAB_BLOCK_IO_H
#define BOOTLAB_BLOCK_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lock.h"

struct block_io {
	struct qemu_lock lock;
	void *(*main_context)(void);
	bool (*poll)(void *context, bool blocking);
	void (*drain)(void);
	uint64_t settled;   /* how often it was waited for */
	uint64_t unsettled; /* of these, how often QEMU still had work when it was given up */
};

/*
 * Find QEMU's functions, and prove on this machine that a request is done when it was waited for: a piece of work that is
 * left to the main loop, and a sector of the first disk, compared with what QEMU's own waiting read says.
 *
 * From a vCPU's thread that runs the guest. 0, or -ENOTSUP with one line in `message`.
 */
int block_io_open(char *message, size_t message_size, struct block_io *ret);

/* Have QEMU finish all that its disks were asked for. From a callback behind the store that asked. */
void block_io_settle(struct block_io *io);

/* A disk of QEMU's that does nothing between `hold` and `release`. */
struct held_disk {
	void *backend, *state;
	void (*hold)(void *state);
	void (*release)(void *state);
};

/* Prove that: a read comes when the disk is released, not before. Holding QEMU's lock. 0, or -ENOTSUP with a line in `message`. */
int block_io_prove_held(const struct block_io *io, const struct held_disk *disk, char *message, size_t message_size);

/*
 * What makes a disk of this machine inexact even so: one line in `message`, and true; false where there is none. `is_ordered`
 * lets off drives whose answers are put in order before the guest sees them.
 */
bool block_io_find_inexact(const struct block_io *io, bool (*is_ordered)(const char *drive), char *message, size_t message_size);

/* Whether a store to `address` in QEMU's memory region of this name can ask a disk for something; not each that may does. */
bool block_io_rings(const char *region, uint64_t address);
/* Of these, one to a slot of virtio-mmio: QEMU does not name the device in it. */
bool block_io_rings_slot(const char *region, uint64_t address);

#endif
