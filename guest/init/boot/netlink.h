/* SPDX-License-Identifier: MIT */
/* The few things about network interfaces that a machine needs to be reachable: rtnetlink(7), without a library. */
#ifndef BOOTLAB_INIT_NETLINK_H
#define BOOTLAB_INIT_NETLINK_H

#include <stdbool.h>
#include <stdint.h>

struct ipv4_address {
	uint8_t bytes[4];
	unsigned prefix;
};

/* "10.0.2.15/24", or without a prefix for one machine alone. 0 or -EINVAL. */
int ipv4_parse(const char *text, struct ipv4_address *ret);

enum { NETLINK_FOR_EVER = 0 };

/* All of these: 0 or -errno. The kernel takes an address back after `valid_s`, unless it is given again. */
int netlink_up(unsigned interface);
int netlink_address(unsigned interface, const struct ipv4_address *address, uint32_t valid_s);
int netlink_remove_address(unsigned interface, const struct ipv4_address *address);
int netlink_default_route(unsigned interface, const struct ipv4_address *gateway);

/* The interface of this name, once it is there; with `running` once it has a carrier. 0 if not by `deadline_ns`. */
unsigned netlink_wait(const char *name, bool running, int64_t deadline_ns);

#endif
