/* SPDX-License-Identifier: MIT */
/* Gets an address for one network interface from a DHCP server, and keeps it renewed. */
#include "dhcp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dhcp_message.h"
#include "netlink.h"
#include "shared/clock.h"
#include "shared/print.h"
#include "state/log.h"

enum {
	FIRST_WAIT_MS = 1000, /* for an answer; doubled each time. RFC 2131 has 4 s, for the Ethernet of 1997 */
	LONGEST_WAIT_MS = 64000,
	REQUESTS = 4,	     /* for one offer */
	LEAST_RENEWAL_S = 60, /* between two attempts to renew */
	HOST_NAME_BYTES = 65,
	ADDRESS_BYTES = 16,
};

static const char RESOLV[] = "/run/bootlab/resolv.conf", RESOLV_NEW[] = "/run/bootlab/resolv.conf.new";

struct client {
	const char *name;
	unsigned interface;
	uint8_t hardware[DHCP_HARDWARE_BYTES];
	char host_name[HOST_NAME_BYTES];
	uint32_t transaction;
	int64_t begun_ns, bound_ns;
	struct dhcp_answer lease;
	bool has_lease;
};

static uint32_t dice(void)
{
	uint32_t number;

	if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
		number = (uint32_t)(clock_now_ns() * INT64_C(2654435761) >> 7);
	return number;
}

static void write_address(const struct ipv4_address *address, char *ret)
{
	const uint8_t *bytes = address->bytes;

	print(ret, ADDRESS_BYTES, "%u.%u.%u.%u", bytes[0], bytes[1], bytes[2], bytes[3]);
}

/* ---- Sockets --------------------------------------------------------------------------------------------------------------- */

static int find_card(struct client *client)
{
	struct ifreq request = { .ifr_flags = 0 };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), r = 0;

	if (fd < 0)
		return -errno;
	memcpy(request.ifr_name, client->name, strnlen(client->name, IFNAMSIZ - 1));
	if (ioctl(fd, SIOCGIFHWADDR, &request))
		r = -errno;
	close(fd);
	memcpy(client->hardware, request.ifr_hwaddr.sa_data, sizeof client->hardware);
	return r;
}

/* Without an address only whole frames come and go. */
static int open_frames(const struct client *client)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET,
				       .sll_protocol = htons(ETH_P_IP),
				       .sll_ifindex = (int)client->interface };
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_IP)), r;

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&address, sizeof address)) {
		r = -errno;
		close(fd);
		return r;
	}
	return fd;
}

/* With one, UDP as everybody else. */
static int open_udp(const struct client *client)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(DHCP_CLIENT_PORT) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1, r;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, client->name, (socklen_t)strlen(client->name)) ||
	    setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on) ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) ||
	    bind(fd, (struct sockaddr *)&address, sizeof address)) {
		r = -errno;
		close(fd);
		return r;
	}
	return fd;
}

static void send_frame(const struct client *client, int fd, const struct dhcp_request *request)
{
	struct sockaddr_ll everybody = { .sll_family = AF_PACKET,
					 .sll_protocol = htons(ETH_P_IP),
					 .sll_ifindex = (int)client->interface,
					 .sll_halen = DHCP_HARDWARE_BYTES };
	uint8_t frame[DHCP_FRAME_BYTES];
	size_t size = dhcp_write_frame(request, frame);

	memset(everybody.sll_addr, 255, DHCP_HARDWARE_BYTES);
	/* One that could not be sent is one that was lost: the next is sent in its time. */
	if (sendto(fd, frame, size, MSG_DONTWAIT, (struct sockaddr *)&everybody, sizeof everybody) < 0)
		return;
}

static void send_udp(int fd, const struct dhcp_request *request, const uint8_t *to)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(DHCP_SERVER_PORT) };
	uint8_t message[DHCP_FRAME_BYTES];
	size_t size = dhcp_write(request, message);

	memcpy(&address.sin_addr, to, 4);
	if (sendto(fd, message, size, MSG_DONTWAIT, (struct sockaddr *)&address, sizeof address) < 0)
		return;
}

/* The next answer that is one, into `ret`; false when there is none by `deadline_ns`. */
static bool receive(const struct client *client, int fd, bool framed, int64_t deadline_ns, struct dhcp_answer *ret)
{
	uint8_t bytes[DHCP_FRAME_BYTES];

	for (;;) {
		struct pollfd polled = { .fd = fd, .events = POLLIN };
		int64_t left_ms = (deadline_ns - clock_now_ns() + NS_PER_MS - 1) / NS_PER_MS;
		ssize_t size = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);

		if (size >= 0) {
			int r = framed ? dhcp_read_frame(bytes, (size_t)size, client->transaction, client->hardware, ret) :
					 dhcp_read(bytes, (size_t)size, client->transaction, client->hardware, ret);

			if (r == 0)
				return true;
		}
		/* Also a flood of others' frames ends at the deadline. */
		if (left_ms <= 0)
			return false;
		if (size < 0 && poll(&polled, 1, left_ms < LONGEST_WAIT_MS ? (int)left_ms : LONGEST_WAIT_MS) < 0 && errno != EINTR)
			return false;
	}
}

static struct dhcp_request request_of(const struct client *client, enum dhcp_type type)
{
	int64_t seconds = (clock_now_ns() - client->begun_ns) / NS_PER_S;
	struct dhcp_request request = { .type = type, .transaction = client->transaction, .host_name = client->host_name };

	request.seconds = (uint16_t)(seconds < UINT16_MAX ? seconds : UINT16_MAX);
	memcpy(request.hardware, client->hardware, sizeof request.hardware);
	return request;
}

/* ---- What an answer means ---------------------------------------------------------------------------------------------------- */

/* For programs that follow a link from /etc/resolv.conf. */
static void write_resolv(const struct dhcp_answer *lease)
{
	char text[DHCP_DOMAIN_BYTES + 128], address[ADDRESS_BYTES];
	int size = 0, fd;

	if (*lease->domain)
		size += print(text, sizeof text, "search %s\n", lease->domain);
	for (size_t i = 0; i < lease->n_name_servers; i++) {
		write_address(&lease->name_servers[i], address);
		size += print(text + size, sizeof text - (size_t)size, "nameserver %s\n", address);
	}
	if (size == 0)
		return;
	fd = open(RESOLV_NEW, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0 || write(fd, text, (size_t)size) != size || rename(RESOLV_NEW, RESOLV))
		log_say(LOG_FAILURE, "%s: %s", RESOLV, strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void give_up_lease(struct client *client, const char *why)
{
	char address[ADDRESS_BYTES];

	if (!client->has_lease)
		return;
	write_address(&client->lease.address, address);
	log_say(LOG_FAILURE, "%s: %s is given back: %s", client->name, address, why);
	netlink_remove_address(client->interface, &client->lease.address);
	client->has_lease = false;
}

static int take_lease(struct client *client, const struct dhcp_answer *answer)
{
	bool same = client->has_lease && !memcmp(client->lease.address.bytes, answer->address.bytes, 4);
	uint32_t valid_s = answer->lease_s == DHCP_FOR_EVER ? NETLINK_FOR_EVER : answer->lease_s;
	char address[ADDRESS_BYTES], server[ADDRESS_BYTES];
	int r;

	if (client->has_lease && !same)
		give_up_lease(client, "the server has given another one");
	r = netlink_address(client->interface, &answer->address, valid_s);
	if (r == 0 && answer->has_router)
		r = netlink_default_route(client->interface, &answer->router);
	if (r) {
		log_say(LOG_FAILURE, "%s: what the server gave cannot be set: %s", client->name, strerror(-r));
		return r;
	}
	client->bound_ns = clock_now_ns();
	client->lease = *answer;
	client->has_lease = true;
	write_resolv(answer);
	write_address(&answer->address, address);
	write_address(&answer->server, server);
	log_say(LOG_NOTE, "%s: %s %s/%u from %s for %lu s", client->name, same ? "renewed:" : "has", address,
		answer->address.prefix, answer->has_server ? server : "a server without a name",
		(unsigned long)answer->lease_s);
	return 0;
}

/* ---- The states of RFC 2131, figure 5 ------------------------------------------------------------------------------------------ */

/* An offer, or its acknowledgement at once. */
static void select_offer(struct client *client, int fd, struct dhcp_answer *ret)
{
	int64_t wait_ms = FIRST_WAIT_MS;

	client->begun_ns = clock_now_ns();
	for (;;) {
		/* Spread by a quarter, so that machines that were switched on together do not ask together. */
		int64_t spread_ms = (int64_t)(dice() % (unsigned)(wait_ms / 2)) - wait_ms / 4;
		int64_t until_ns = clock_now_ns() + (wait_ms + spread_ms) * NS_PER_MS;
		struct dhcp_request request;

		client->transaction = dice();
		request = request_of(client, DHCP_DISCOVER);
		send_frame(client, fd, &request);
		while (receive(client, fd, true, until_ns, ret))
			if ((ret->type == DHCP_OFFER && ret->has_server) || (ret->type == DHCP_ACK && ret->rapid))
				return;
		wait_ms = wait_ms * 2 < LONGEST_WAIT_MS ? wait_ms * 2 : LONGEST_WAIT_MS;
	}
}

/* True when the offer in `answer` was given, and it is the server's word now. */
static bool request_offer(const struct client *client, int fd, struct dhcp_answer *answer)
{
	const struct dhcp_answer offer = *answer;
	int64_t wait_ms = FIRST_WAIT_MS;

	for (int i = 0; i < REQUESTS; i++, wait_ms *= 2) {
		struct dhcp_request request = request_of(client, DHCP_REQUEST);
		int64_t until_ns = clock_now_ns() + wait_ms * NS_PER_MS;

		request.requested = offer.address;
		request.server = offer.server;
		send_frame(client, fd, &request);
		while (receive(client, fd, true, until_ns, answer)) {
			if (answer->type == DHCP_NAK)
				return false;
			if (answer->type == DHCP_ACK)
				return true;
		}
	}
	return false;
}

static void sleep_until(int64_t deadline_ns)
{
	struct timespec until = { .tv_sec = deadline_ns / NS_PER_S, .tv_nsec = deadline_ns % NS_PER_S };

	while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

static int acquire(struct client *client)
{
	int fd = open_frames(client), r;
	struct dhcp_answer answer;

	if (fd < 0)
		return fd;
	for (int64_t pause_ms = FIRST_WAIT_MS;; pause_ms = pause_ms * 2 < LONGEST_WAIT_MS ? pause_ms * 2 : LONGEST_WAIT_MS) {
		netlink_wait(client->name, true, INT64_MAX);
		select_offer(client, fd, &answer);
		if (answer.type == DHCP_ACK || request_offer(client, fd, &answer)) {
			r = take_lease(client, &answer);
			close(fd);
			return r;
		}
		/* A server that offers and refuses is asked less and less. */
		sleep_until(clock_now_ns() + pause_ms * NS_PER_MS);
	}
}

/* The server's word about going on, by `until_ns`; false when there was none. */
static bool ask_to_renew(struct client *client, bool any, int64_t until_ns, struct dhcp_answer *ret)
{
	static const uint8_t EVERYBODY[4] = { 255, 255, 255, 255 };
	struct dhcp_request request = request_of(client, DHCP_REQUEST);
	int fd = open_udp(client);
	bool answered = false;

	if (fd < 0) {
		sleep_until(until_ns);
		return false;
	}
	request.own = client->lease.address;
	send_udp(fd, &request, any ? EVERYBODY : client->lease.server.bytes);
	while (!answered && receive(client, fd, false, until_ns, ret))
		answered = ret->type == DHCP_NAK || ret->type == DHCP_ACK;
	close(fd);
	return answered;
}

/* Ask its server, later any, to go on, for as long as the lease lasts; false when that is over. */
static bool renew(struct client *client)
{
	int64_t rebind_ns = client->bound_ns + client->lease.rebind_s * NS_PER_S;
	int64_t end_ns = client->bound_ns + client->lease.lease_s * NS_PER_S, now_ns;
	struct dhcp_answer answer;

	client->begun_ns = clock_now_ns();
	client->transaction = dice();
	while ((now_ns = clock_now_ns()) < end_ns) {
		bool any = now_ns >= rebind_ns || !client->lease.has_server;
		int64_t limit_ns = any ? end_ns : rebind_ns, wait_ns = (limit_ns - now_ns) / 2;

		if (wait_ns < LEAST_RENEWAL_S * NS_PER_S)
			wait_ns = LEAST_RENEWAL_S * NS_PER_S;
		if (!ask_to_renew(client, any, now_ns + wait_ns < limit_ns ? now_ns + wait_ns : limit_ns, &answer))
			continue;
		if (answer.type == DHCP_ACK && take_lease(client, &answer) == 0)
			return true;
		give_up_lease(client, "the server says no");
		return false;
	}
	give_up_lease(client, "nobody has renewed it");
	return false;
}

static void keep(struct client *client)
{
	do {
		if (client->lease.lease_s == DHCP_FOR_EVER)
			sleep_until(INT64_MAX);
		sleep_until(client->bound_ns + client->lease.renew_s * NS_PER_S);
	} while (renew(client));
}

int dhcp_run(const char *interface, int ready_fd)
{
	struct client client = { .name = interface };
	int r;

	client.interface = if_nametoindex(interface);
	r = client.interface > 0 ? find_card(&client) : -ENODEV;
	/* "(none)" is what a kernel is called that nobody has named. */
	if (gethostname(client.host_name, sizeof client.host_name - 1) || client.host_name[0] == '(')
		client.host_name[0] = '\0';
	while (r == 0) {
		r = acquire(&client);
		if (r == 0 && ready_fd >= 0) {
			if (write(ready_fd, "\n", 1) < 0)
				log_say(LOG_FAILURE, "%s: nobody waits for it", interface);
			close(ready_fd);
			ready_fd = -1;
		}
		if (r == 0)
			keep(&client);
	}
	return r;
}
