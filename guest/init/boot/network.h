/* SPDX-License-Identifier: MIT */
/* The built-in units of the network, each 0 or -errno: the loopback, the addresses that init.conf gives, and DHCP. */
#ifndef BOOTLAB_INIT_NETWORK_H
#define BOOTLAB_INIT_NETWORK_H

#include <stdbool.h>

#include "units/config.h"

int network_loopback(void);
int network_addresses(void);

/* Keep `interface` configured by DHCP; a line to `ready_fd` when it is. Returns -errno, or never. */
int network_dhcp(const char *interface, int ready_fd);

/* Whether a line `address` asks for that. */
bool network_is_dhcp(const struct setting *setting);

#endif
