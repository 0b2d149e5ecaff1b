/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the guest's end of a wire by its name, and puts frames on it. */
#include "network_card.h"

#include <errno.h>
#include <stdio.h>

#include "symbols.h"

int network_card_open(const char *name, char *message, size_t message_size, struct network_card *ret)
{
	struct network_card card;
	void *(*find)(const char *name);
	void *other;
	const struct wanted_symbol wanted[] = {
		{ "qemu_find_netdev", &find },
		{ "qemu_send_packet", &card.send },
	};
	int r = symbols_find(wanted, sizeof wanted / sizeof *wanted, message, message_size);

	if (!r)
		r = lock_open(message, message_size, &card.lock);
	if (r)
		return r;
	lock_take(&card.lock);
	card.netdev = find(name);
	other = find("bootlab-no-such-netdev");
	lock_give(&card.lock);
	if (!card.netdev || other) {
		snprintf(message, message_size, "QEMU does not find its netdev '%s' by name", name);
		return -ENOTSUP;
	}
	*ret = card;
	return 0;
}

void network_card_give(const struct network_card *card, const uint8_t *frame, size_t size)
{
	bool taken = lock_take_unless_held(&card->lock);

	card->send(card->netdev, frame, (int)size);
	if (taken)
		lock_give(&card->lock);
}
