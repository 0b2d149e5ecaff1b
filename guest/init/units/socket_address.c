/* SPDX-License-Identifier: MIT */
/* Reads where a socket listens: a TCP or UDP port, with an address or without, or a path below /run. */
#include "socket_address.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>

enum { MODE_DEFAULT = 0666, MODE_DIGITS = 4, MAX_PORT = 65535 };

static const char RUN[] = "/run/";
static const char EXPECTED[] = "tcp [ADDRESS:]PORT, udp [ADDRESS:]PORT, or unix /run/[FOLDER/]NAME [MODE]";

/* Octal digits; false when it is something else. */
static bool parse_mode(struct slice word, mode_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < word.size; i++) {
		if (word.at[i] < '0' || word.at[i] > '7')
			return false;
		*ret = *ret * 8 + (mode_t)(word.at[i] - '0');
	}
	return word.size > 0 && word.size <= MODE_DIGITS && *ret <= 0777;
}

/*
 * /run/NAME or /run/FOLDER/NAME: a folder may belong to the unit's user, who could put a link in the place of one below it.
 * bootlab-init's own folder is not for others.
 */
static bool is_below_run(struct slice path)
{
	struct slice rest = slice_from(path, strlen(RUN));
	const char *slash;

	if (!slice_starts(path, RUN) || slice_is(path, "/run/bootlab") || slice_starts(path, "/run/bootlab/") ||
	    memmem(path.at, path.size, "..", 2))
		return false;
	slash = memchr(rest.at, '/', rest.size);
	if (slash == rest.at || slice_ends(path, "/"))
		return false;
	return !slash || !memchr(slash + 1, '/', (size_t)(rest.at + rest.size - slash - 1));
}

static bool parse_path(struct slice rest, struct socket_address *ret)
{
	struct slice path, mode;

	if (!word_next(&rest, &path) || path.size >= sizeof ret->at.local.sun_path || memchr(path.at, '\0', path.size) ||
	    !is_below_run(path))
		return false;
	ret->mode = MODE_DEFAULT;
	if (word_next(&rest, &mode) && (!parse_mode(mode, &ret->mode) || slice_trim(rest).size > 0))
		return false;
	ret->at.local.sun_family = AF_UNIX;
	memcpy(ret->at.local.sun_path, path.at, path.size);
	ret->size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path.size + 1);
	return true;
}

static bool parse_internet(struct slice word, struct socket_address *ret)
{
	char address[INET6_ADDRSTRLEN];
	const char *colon = memrchr(word.at, ':', word.size);
	struct slice host = { word.at, colon ? (size_t)(colon - word.at) : 0 };
	bool brackets = host.size > 2 && host.at[0] == '[' && slice_ends(host, "]");
	int64_t port;

	if (parse_number(slice_from(word, colon ? host.size + 1 : 0), 1, MAX_PORT, &port))
		return false;
	if (brackets)
		host = (struct slice){ host.at + 1, host.size - 2 };
	ret->everywhere = !colon;
	if (host.size >= sizeof address || (colon && host.size == 0))
		return false;
	memcpy(address, host.at, host.size);
	address[host.size] = '\0';
	if (brackets || ret->everywhere) {
		ret->at.in6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };
		ret->size = sizeof ret->at.in6;
		/* One of a single link would have to name the link. */
		return ret->everywhere || (inet_pton(AF_INET6, address, &ret->at.in6.sin6_addr) == 1 &&
					   !IN6_IS_ADDR_LINKLOCAL(&ret->at.in6.sin6_addr));
	}
	ret->at.in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	ret->size = sizeof ret->at.in;
	return inet_pton(AF_INET, address, &ret->at.in.sin_addr) == 1;
}

const char *socket_address_parse(struct slice text, struct socket_address *ret)
{
	struct slice kind, word;

	*ret = (struct socket_address){ .type = SOCK_STREAM };
	if (!word_next(&text, &kind))
		return EXPECTED;
	if (slice_is(kind, "unix"))
		return parse_path(text, ret) ? NULL : EXPECTED;
	if (slice_is(kind, "udp"))
		ret->type = SOCK_DGRAM;
	else if (!slice_is(kind, "tcp"))
		return EXPECTED;
	if (!word_next(&text, &word) || slice_trim(text).size > 0 || !parse_internet(word, ret))
		return EXPECTED;
	return NULL;
}

bool socket_address_same(const struct socket_address *one, const struct socket_address *other)
{
	return one->type == other->type && one->size == other->size && !memcmp(&one->at, &other->at, one->size);
}
