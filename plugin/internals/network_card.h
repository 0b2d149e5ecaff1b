/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives a frame to the guest's network card, at once. No QEMU headers.
 *
 * QEMU reads what comes from outside in its main loop, when the host lets it. Here the vCPU's thread hands the frame over
 * itself: it is in the guest's memory, and the card's interrupt raised, before the next instruction.
 */
#ifndef BOOTLAB_NETWORK_CARD_H
#define BOOTLAB_NETWORK_CARD_H

#include <stddef.h>
#include <stdint.h>

#include "lock.h"

struct network_card {
	struct qemu_lock lock;
	void *netdev;
	long (*send)(void *netdev, const uint8_t *frame, int size);
};

/*
 * Find the functions, and the end of the wire that QEMU calls `name` (-netdev ...,id=NAME). From where the guest runs.
 * 0, or -ENOTSUP with one line in `message`.
 */
int network_card_open(const char *name, char *message, size_t message_size, struct network_card *ret);

/* Put a frame on the wire to the guest. A card that is not set up yet drops it, or takes it when it is. */
void network_card_give(const struct network_card *card, const uint8_t *frame, size_t size);

#endif
