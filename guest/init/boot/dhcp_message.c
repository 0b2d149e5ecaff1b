/* SPDX-License-Identifier: MIT */
/* Writes DHCP's requests as bytes, and reads a server's answers, trusting nothing in them. */
#include "dhcp_message.h"

#include <errno.h>
#include <string.h>


/* Of the message, RFC 2131 section 2. */
enum {
	AT_OPERATION = 0,
	AT_HARDWARE_TYPE = 1,
	AT_HARDWARE_SIZE = 2,
	AT_TRANSACTION = 4,
	AT_SECONDS = 8,
	AT_FLAGS = 10,
	AT_OWN = 12,
	AT_YOURS = 16,
	AT_HARDWARE = 28,
	AT_SERVER_NAME = 44,
	AT_FILE = 108,
	AT_COOKIE = 236,
	AT_OPTIONS = 240,
	LEAST_BYTES = 300, /* some relays drop what is shorter: RFC 1542 */
	REQUEST_CODE = 1,
	REPLY_CODE = 2,
	ETHERNET = 1,
	/* Answers to everybody: what has no address yet may not be reachable by it. */
	BROADCAST = 0x80,
};

enum option {
	OPTION_PAD = 0,
	OPTION_MASK = 1,
	OPTION_ROUTER = 3,
	OPTION_NAME_SERVERS = 6,
	OPTION_HOST_NAME = 12,
	OPTION_DOMAIN = 15,
	OPTION_REQUESTED = 50,
	OPTION_LEASE = 51,
	OPTION_OVERLOAD = 52,
	OPTION_TYPE = 53,
	OPTION_SERVER = 54,
	OPTION_WANTED = 55,
	OPTION_LARGEST = 57,
	OPTION_RENEW = 58,
	OPTION_REBIND = 59,
	OPTION_CLIENT = 61,
	OPTION_RAPID = 80,
	OPTION_END = 255,
};

enum { IP_BYTES = 20, UDP_BYTES = 8, HEADER_BYTES = IP_BYTES + UDP_BYTES, UDP = 17, HOPS = 64, MOST_HOST_NAME = 63 };

static const uint8_t COOKIE[] = { 99, 130, 83, 99 };

static void put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value)
{
	put16(at, value >> 16);
	put16(at + 2, value);
}

static uint32_t get16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static uint32_t get32(const uint8_t *at)
{
	return get16(at) << 16 | get16(at + 2);
}

static bool is_zero(const struct ipv4_address *address)
{
	return get32(address->bytes) == 0;
}

/* ---- Asking -------------------------------------------------------------------------------------------------------------- */

static uint8_t *add(uint8_t *at, enum option option, const void *value, size_t size)
{
	*at++ = (uint8_t)option;
	*at++ = (uint8_t)size;
	memcpy(at, value, size);
	return at + size;
}

size_t dhcp_write(const struct dhcp_request *request, uint8_t *ret)
{
	static const uint8_t WANTED[] = { OPTION_MASK, OPTION_ROUTER, OPTION_NAME_SERVERS, OPTION_DOMAIN,
					  OPTION_LEASE, OPTION_RENEW, OPTION_REBIND };
	uint8_t type = (uint8_t)request->type, client[1 + DHCP_HARDWARE_BYTES] = { ETHERNET }, largest[2];
	uint8_t *at = ret + AT_OPTIONS;

	memset(ret, 0, LEAST_BYTES);
	ret[AT_OPERATION] = REQUEST_CODE;
	ret[AT_HARDWARE_TYPE] = ETHERNET;
	ret[AT_HARDWARE_SIZE] = DHCP_HARDWARE_BYTES;
	put32(ret + AT_TRANSACTION, request->transaction);
	put16(ret + AT_SECONDS, request->seconds);
	if (is_zero(&request->own))
		ret[AT_FLAGS] = BROADCAST;
	memcpy(ret + AT_OWN, request->own.bytes, 4);
	memcpy(ret + AT_HARDWARE, request->hardware, DHCP_HARDWARE_BYTES);
	memcpy(ret + AT_COOKIE, COOKIE, sizeof COOKIE);
	memcpy(client + 1, request->hardware, DHCP_HARDWARE_BYTES);
	put16(largest, DHCP_FRAME_BYTES);
	at = add(at, OPTION_TYPE, &type, 1);
	at = add(at, OPTION_CLIENT, client, sizeof client);
	at = add(at, OPTION_LARGEST, largest, sizeof largest);
	at = add(at, OPTION_WANTED, WANTED, sizeof WANTED);
	if (request->type == DHCP_DISCOVER)
		at = add(at, OPTION_RAPID, "", 0);
	if (!is_zero(&request->requested))
		at = add(at, OPTION_REQUESTED, request->requested.bytes, 4);
	if (!is_zero(&request->server))
		at = add(at, OPTION_SERVER, request->server.bytes, 4);
	if (request->host_name && *request->host_name)
		at = add(at, OPTION_HOST_NAME, request->host_name, strnlen(request->host_name, MOST_HOST_NAME));
	*at++ = OPTION_END;
	return at - ret < LEAST_BYTES ? LEAST_BYTES : (size_t)(at - ret);
}

static uint32_t sum(const uint8_t *bytes, size_t size)
{
	uint32_t total = 0;

	for (size_t i = 0; i < size; i++)
		total += i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
	while (total >> 16)
		total = (total & 0xffff) + (total >> 16);
	return total;
}

size_t dhcp_write_frame(const struct dhcp_request *request, uint8_t *ret)
{
	uint8_t *udp = ret + IP_BYTES;
	size_t size = dhcp_write(request, ret + HEADER_BYTES) + HEADER_BYTES;

	memset(ret, 0, HEADER_BYTES);
	ret[0] = 0x45;
	put16(ret + 2, (uint32_t)size);
	ret[8] = HOPS;
	ret[9] = UDP;
	memset(ret + 16, 255, 4);
	put16(ret + 10, ~sum(ret, IP_BYTES));
	put16(udp, DHCP_CLIENT_PORT);
	put16(udp + 2, DHCP_SERVER_PORT);
	/* No checksum of UDP's own: IPv4 allows that, and RFC 1542 for this. */
	put16(udp + 4, (uint32_t)(size - IP_BYTES));
	return size;
}

/* ---- Answers --------------------------------------------------------------------------------------------------------------- */

struct options {
	struct dhcp_answer *answer;
	uint8_t overload, mask[4];
	bool has_type, has_mask;
};

static unsigned prefix_of(const uint8_t *mask)
{
	uint32_t bits = get32(mask);
	unsigned prefix = 0;

	while (prefix < 32 && (bits & UINT32_C(1) << (31 - prefix)))
		prefix++;
	/* One with a hole in it is none. */
	return prefix < 32 && bits << prefix != 0 ? 0 : prefix;
}

static void take_domain(const uint8_t *value, size_t size, char *ret)
{
	static const char ALLOWED[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";

	while (size > 0 && value[size - 1] == '\0')
		size--;
	for (size_t i = 0; i < size; i++)
		if (value[i] == '\0' || !strchr(ALLOWED, value[i]))
			return;
	memcpy(ret, value, size);
	ret[size] = '\0';
}

static void take_option(struct options *options, uint8_t option, const uint8_t *value, size_t size)
{
	struct dhcp_answer *answer = options->answer;
	bool is_number = size == 4;

	if (option == OPTION_TYPE && size == 1) {
		answer->type = (enum dhcp_type)value[0];
		options->has_type = true;
	} else if (option == OPTION_OVERLOAD && size == 1) {
		options->overload = value[0];
	} else if (option == OPTION_MASK && is_number) {
		memcpy(options->mask, value, 4);
		options->has_mask = true;
	} else if (option == OPTION_SERVER && is_number) {
		memcpy(answer->server.bytes, value, 4);
		answer->has_server = true;
	} else if (option == OPTION_ROUTER && size >= 4) {
		memcpy(answer->router.bytes, value, 4);
		answer->has_router = true;
	} else if (option == OPTION_NAME_SERVERS) {
		for (size_t i = 0; i + 4 <= size && answer->n_name_servers < DHCP_NAME_SERVERS; i += 4)
			memcpy(answer->name_servers[answer->n_name_servers++].bytes, value + i, 4);
	} else if (option == OPTION_DOMAIN && size < DHCP_DOMAIN_BYTES) {
		take_domain(value, size, answer->domain);
	} else if (option == OPTION_LEASE && is_number) {
		answer->lease_s = get32(value);
	} else if (option == OPTION_RENEW && is_number) {
		answer->renew_s = get32(value);
	} else if (option == OPTION_REBIND && is_number) {
		answer->rebind_s = get32(value);
	} else if (option == OPTION_RAPID) {
		answer->rapid = true;
	}
}

/* False when an option goes beyond the end. */
static bool take_options(struct options *options, const uint8_t *at, const uint8_t *end)
{
	while (at < end && *at != OPTION_END) {
		if (*at == OPTION_PAD) {
			at++;
			continue;
		}
		if (end - at < 2 || end - at - 2 < at[1])
			return false;
		take_option(options, at[0], at + 2, at[1]);
		at += 2 + at[1];
	}
	return true;
}

/* The times, where the server said none or something impossible: RFC 2131 section 4.4.5. */
static void complete_times(struct dhcp_answer *answer)
{
	uint32_t lease_s = answer->lease_s;

	if (answer->rebind_s == 0 || answer->rebind_s >= lease_s)
		answer->rebind_s = lease_s - lease_s / 8;
	if (answer->renew_s == 0 || answer->renew_s >= answer->rebind_s)
		answer->renew_s = answer->rebind_s < lease_s / 2 ? answer->rebind_s : lease_s / 2;
}

int dhcp_read(const uint8_t *bytes, size_t size, uint32_t transaction, const uint8_t *hardware, struct dhcp_answer *ret)
{
	struct options options = { .answer = ret };

	memset(ret, 0, sizeof *ret);
	if (size < AT_OPTIONS || bytes[AT_OPERATION] != REPLY_CODE || get32(bytes + AT_TRANSACTION) != transaction ||
	    memcmp(bytes + AT_HARDWARE, hardware, DHCP_HARDWARE_BYTES) || memcmp(bytes + AT_COOKIE, COOKIE, sizeof COOKIE))
		return -EINVAL;
	memcpy(ret->address.bytes, bytes + AT_YOURS, 4);
	if (!take_options(&options, bytes + AT_OPTIONS, bytes + size))
		return -EINVAL;
	/* Options may go on in these two fields. */
	if ((options.overload & 1) && !take_options(&options, bytes + AT_FILE, bytes + AT_COOKIE))
		return -EINVAL;
	if ((options.overload & 2) && !take_options(&options, bytes + AT_SERVER_NAME, bytes + AT_FILE))
		return -EINVAL;
	if (!options.has_type || (ret->type != DHCP_OFFER && ret->type != DHCP_ACK && ret->type != DHCP_NAK))
		return -EINVAL;
	if (ret->type == DHCP_NAK)
		return 0;
	if (is_zero(&ret->address) || ret->address.bytes[0] >= 224 || ret->address.bytes[0] == 127)
		return -EINVAL;
	/* Without a mask that of the address's class, as ever. */
	ret->address.prefix = options.has_mask		     ? prefix_of(options.mask) :
			      ret->address.bytes[0] < 128 ? 8 :
			      ret->address.bytes[0] < 192 ? 16 :
							      24;
	if (ret->address.prefix == 0 || (ret->type == DHCP_ACK && ret->lease_s == 0))
		return -EINVAL;
	complete_times(ret);
	return 0;
}

int dhcp_read_frame(const uint8_t *bytes, size_t size, uint32_t transaction, const uint8_t *hardware,
		    struct dhcp_answer *ret)
{
	size_t header, whole, udp;

	if (size < HEADER_BYTES || bytes[0] >> 4 != 4)
		return -EINVAL;
	header = (size_t)(bytes[0] & 15) * 4;
	whole = get16(bytes + 2);
	/* No fragments: what fits into 1500 bytes has none. */
	if (header < IP_BYTES || whole > size || whole < header + UDP_BYTES || bytes[9] != UDP ||
	    (get16(bytes + 6) & 0x3fff) || sum(bytes, header) != 0xffff)
		return -EINVAL;
	/* A card may leave UDP's checksum to others; the message has its own signs. */
	udp = get16(bytes + header + 4);
	if (get16(bytes + header) != DHCP_SERVER_PORT || get16(bytes + header + 2) != DHCP_CLIENT_PORT || udp < UDP_BYTES ||
	    udp > whole - header)
		return -EINVAL;
	return dhcp_read(bytes + header + UDP_BYTES, udp - UDP_BYTES, transaction, hardware, ret);
}
