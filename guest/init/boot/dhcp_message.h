/* SPDX-License-Identifier: MIT */
/* The messages of DHCP (RFC 2131, options of RFC 2132), bytes to values and back; nothing is sent here. */
#ifndef BOOTLAB_INIT_DHCP_MESSAGE_H
#define BOOTLAB_INIT_DHCP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netlink.h"

enum dhcp_type {
	DHCP_DISCOVER = 1,
	DHCP_OFFER = 2,
	DHCP_REQUEST = 3,
	DHCP_ACK = 5,
	DHCP_NAK = 6,
};

enum {
	DHCP_CLIENT_PORT = 68,
	DHCP_SERVER_PORT = 67,
	DHCP_FRAME_BYTES = 1500,
	DHCP_NAME_SERVERS = 3, /* as many as resolv.conf has room for */
	DHCP_DOMAIN_BYTES = 256,
	DHCP_HARDWARE_BYTES = 6,
};

#define DHCP_FOR_EVER UINT32_MAX

/* What is asked; all but the first three may be all zero. */
struct dhcp_request {
	enum dhcp_type type;
	uint32_t transaction;
	uint8_t hardware[DHCP_HARDWARE_BYTES];
	uint16_t seconds;	       /* since the client began */
	struct ipv4_address own;       /* that it has: renewing */
	struct ipv4_address requested; /* that it was offered */
	struct ipv4_address server;    /* whose offer is taken */
	const char *host_name;
};

struct dhcp_answer {
	enum dhcp_type type;
	struct ipv4_address address; /* its prefix 0: the server said none */
	struct ipv4_address server, router;
	struct ipv4_address name_servers[DHCP_NAME_SERVERS];
	bool has_server, has_router;
	bool rapid; /* RFC 4039: acknowledged at once */
	size_t n_name_servers;
	char domain[DHCP_DOMAIN_BYTES]; /* letters, digits, dots, hyphens; empty: none */
	uint32_t lease_s, renew_s, rebind_s;
};

/* The message, for UDP; the number of bytes put into `ret`, which has DHCP_FRAME_BYTES. */
size_t dhcp_write(const struct dhcp_request *request, uint8_t *ret);

/* 0, or -EINVAL for anything but a server's whole answer to this transaction of this card. */
int dhcp_read(const uint8_t *bytes, size_t size, uint32_t transaction, const uint8_t *hardware, struct dhcp_answer *ret);

/* The same with the headers of IPv4 and UDP in front, from 0.0.0.0 to everybody: for a card without an address. */
size_t dhcp_write_frame(const struct dhcp_request *request, uint8_t *ret);
int dhcp_read_frame(const uint8_t *bytes, size_t size, uint32_t transaction, const uint8_t *hardware,
		    struct dhcp_answer *ret);

#endif
