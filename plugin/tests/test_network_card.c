/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests that a wire is found by its name and frames go to it under QEMU's lock, on functions of our own. */
#include "internals/network_card.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"

static struct {
	bool held, finds_all, finds_none;
	int given;
} qemu;

static char wire;

void bql_lock_impl(const char *file, int line);
void bql_unlock(void);
bool bql_locked(void);
void *qemu_find_netdev(const char *name);
long qemu_send_packet(void *netdev, const uint8_t *frame, int size);

void bql_lock_impl(const char *file, int line)
{
	(void)file;
	(void)line;
	CHECK(!qemu.held);
	qemu.held = true;
}

void bql_unlock(void)
{
	CHECK(qemu.held);
	qemu.held = false;
}

bool bql_locked(void)
{
	return qemu.held;
}

void *qemu_find_netdev(const char *name)
{
	CHECK(qemu.held);
	return qemu.finds_all || (!strcmp(name, "net0") && !qemu.finds_none) ? &wire : NULL;
}

long qemu_send_packet(void *netdev, const uint8_t *frame, int size)
{
	CHECK(qemu.held && netdev == &wire && size == 3 && !memcmp(frame, "abc", 3));
	qemu.given++;
	return size;
}

static void check_refused(const char *name)
{
	struct network_card card;
	char message[128] = "", wanted[128];

	snprintf(wanted, sizeof wanted, "QEMU does not find its netdev '%s' by name", name);
	CHECK(network_card_open(name, message, sizeof message, &card) == -ENOTSUP && !qemu.held && !strcmp(message, wanted));
}

int main(void)
{
	struct network_card card;
	char message[128];

	CHECK(network_card_open("net0", message, sizeof message, &card) == 0 && !qemu.held);
	network_card_give(&card, (const uint8_t *)"abc", 3);
	CHECK(qemu.given == 1 && !qemu.held);
	qemu.held = true; /* as it is where a timer is due */
	network_card_give(&card, (const uint8_t *)"abc", 3);
	CHECK(qemu.given == 2 && qemu.held);
	qemu.held = false;
	check_refused("net1");
	qemu.finds_all = true;
	check_refused("net0");
	qemu.finds_all = false;
	qemu.finds_none = true;
	check_refused("net0");
	puts("test_network_card: ok");
	return 0;
}
