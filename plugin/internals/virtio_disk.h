/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One virtio disk of QEMU whose answers reach the guest when we say so. No QEMU headers.
 *
 * QEMU's block layer is told to hold the disk's requests back. When the guest has rung, they are let go and waited for: the data
 * is where it belongs at once, while the interrupt is kept in and the ring's index, by which the guest counts its answers, is
 * put back. Each answer is then shown to the guest by itself, in whatever order. So a request takes as long as we like, any
 * number of them may be on their way, and neither guest nor firmware has to know.
 *
 * All of it with QEMU's big lock held. A vCPU's thread alone comes here, and runs all vCPUs.
 */
#ifndef BOOTLAB_VIRTIO_DISK_H
#define BOOTLAB_VIRTIO_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block_io.h"

/* As large as a virtio ring can be made for a disk. */
enum { VIRTIO_RING_MAX = 1024 };

enum virtio_operation { VIRTIO_READ, VIRTIO_WRITE, VIRTIO_FLUSH, VIRTIO_OTHER };

struct virtio_request {
	uint16_t head; /* its first descriptor: its name, until it is answered */
	enum virtio_operation operation;
	uint64_t sector;
	uint32_t sectors;
};

struct virtio_disk {
	struct held_disk held;
	void *device, *queue;
	uint64_t (*table_at)(void *device, int queue);
	uint64_t (*asked_at)(void *device, int queue);
	uint64_t (*answered_at)(void *device, int queue);
	int (*ring_size)(void *device, int queue);
	void (*notify)(void *device, void *queue);
	void (*memory)(uint64_t address, void *bytes, uint64_t size, bool write);
	uint64_t sectors;
	/* Of the ring as the driver has set it up: */
	uint64_t table, asked, answered;
	int ring; /* its size as QEMU says it; -1: not looked at yet */
	uint16_t size; /* the same, 0 where it is none that we can read */
	uint16_t taken; /* requests read from it */
	uint16_t kept; /* answers that QEMU has given */
	uint16_t shown; /* answers that the guest was shown */
	uint32_t lengths[VIRTIO_RING_MAX]; /* what QEMU said to the request of this head */
	bool done[VIRTIO_RING_MAX]; /* ... and it has */
};

/*
 * The disk on QEMU's drive of this name. From a vCPU's thread that runs the guest, holding no lock, with `io` open: proves that a
 * read is held back and comes when it is let go. 0, or -ENOTSUP with one line in `message`.
 */
int virtio_disk_open(const char *drive, const struct block_io *io, char *message, size_t message_size, struct virtio_disk *ret);

/* Whether the driver has set up another ring, or the same one anew: what was asked before is forgotten. */
bool virtio_disk_was_reset(struct virtio_disk *disk);

/* The next request that the guest has asked for and that was not taken. 1; 0 for none; -EPROTO where it is none. */
int virtio_disk_take(struct virtio_disk *disk, struct virtio_request *ret);

/* Have QEMU do all that was taken, and keep the answers. 0, or -EPROTO with one line in `message`: let it go then. */
int virtio_disk_do(struct virtio_disk *disk, struct block_io *io, char *message, size_t message_size);

/* Show the guest one answer, and interrupt it if it wants that. -ESTALE where the ring is not what it was. */
int virtio_disk_answer(struct virtio_disk *disk, uint16_t head);

/* Read what the guest gave to be written. `size` bytes at most; returns how many there were. */
size_t virtio_disk_data(const struct virtio_disk *disk, uint16_t head, uint8_t *ret, size_t size);

/*
 * The machine stands still for good, and another process goes on from it: where the ring counts answers it says what QEMU has
 * given, as QEMU takes that number for its own when it takes up a device.
 */
void virtio_disk_leave(const struct virtio_disk *disk);

/* Go on as `left`, which was another process's, has left the ring, with what it had not shown yet. 0; -ESTALE: it is another ring. */
int virtio_disk_take_up(struct virtio_disk *disk, const struct virtio_disk *left);

/* Show all that is kept, and hold nothing back any more. */
void virtio_disk_let_go(struct virtio_disk *disk);

#endif
