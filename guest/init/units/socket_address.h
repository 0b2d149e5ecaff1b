/* SPDX-License-Identifier: MIT */
/* Where a unit's sockets listen, as its file says it. */
#ifndef BOOTLAB_INIT_SOCKET_ADDRESS_H
#define BOOTLAB_INIT_SOCKET_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "shared/text.h"

struct socket_address {
	const char *text; /* of the file, for messages */
	int type;	  /* SOCK_STREAM or SOCK_DGRAM */
	mode_t mode;	  /* of a path */
	bool everywhere;  /* on all addresses: IPv6's too, where the kernel has it */
	socklen_t size;
	union {
		struct sockaddr any;
		struct sockaddr_un local;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} at;
};

/*
 * "tcp [ADDRESS:]PORT" and "udp [ADDRESS:]PORT", an IPv6 address in [brackets]; "unix /run/[FOLDER/]NAME [MODE]": on no other
 * file system may PID 1 have to wait. NULL, or what was expected instead; `text` is left to the caller.
 */
const char *socket_address_parse(struct slice text, struct socket_address *ret);

bool socket_address_same(const struct socket_address *one, const struct socket_address *other);

#endif
