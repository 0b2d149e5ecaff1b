/* SPDX-License-Identifier: MIT */
/* Sets interfaces up, and gives them addresses and a default route, by messages to the kernel. */
#include "netlink.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "shared/clock.h"
#include "shared/text.h"

enum { REQUEST_BYTES = 256, ANSWER_SECONDS = 5, LONGEST_MS = 60000 };

struct request {
	struct nlmsghdr header;
	char body[REQUEST_BYTES];
};

int ipv4_parse(const char *text, struct ipv4_address *ret)
{
	struct slice rest = slice_of(text);
	int64_t number;

	for (int i = 0; i < 4; i++) {
		struct slice digits = { rest.at, 0 };

		while (digits.size < rest.size && rest.at[digits.size] >= '0' && rest.at[digits.size] <= '9')
			digits.size++;
		if (parse_number(digits, 0, 255, &number))
			return -EINVAL;
		ret->bytes[i] = (uint8_t)number;
		rest = slice_from(rest, digits.size);
		if (i < 3 && (rest.size == 0 || rest.at[0] != '.'))
			return -EINVAL;
		rest = slice_from(rest, i < 3);
	}
	ret->prefix = 32;
	if (rest.size == 0)
		return 0;
	if (rest.at[0] != '/' || parse_number(slice_from(rest, 1), 0, 32, &number))
		return -EINVAL;
	ret->prefix = (unsigned)number;
	return 0;
}

static void add_attribute(struct request *request, unsigned short type, const void *value, size_t size)
{
	struct rtattr *attribute = (struct rtattr *)((char *)request + NLMSG_ALIGN(request->header.nlmsg_len));

	attribute->rta_type = type;
	attribute->rta_len = (unsigned short)RTA_LENGTH(size);
	memcpy(RTA_DATA(attribute), value, size);
	request->header.nlmsg_len = NLMSG_ALIGN(request->header.nlmsg_len) + (uint32_t)RTA_ALIGN(attribute->rta_len);
}

static int ask(struct request *request)
{
	struct timeval patience = { .tv_sec = ANSWER_SECONDS };
	char answer[1024] __attribute__((aligned(8)));
	const struct nlmsghdr *header = (const struct nlmsghdr *)answer;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), r;
	ssize_t size;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	request->header.nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	size = send(fd, request, request->header.nlmsg_len, 0);
	if (size >= 0)
		size = recv(fd, answer, sizeof answer, 0);
	r = size < 0 ? -errno : -EPROTO;
	close(fd);
	if (size >= (ssize_t)NLMSG_LENGTH(sizeof(struct nlmsgerr)) && header->nlmsg_type == NLMSG_ERROR)
		r = ((const struct nlmsgerr *)NLMSG_DATA(header))->error;
	return r;
}

int netlink_up(unsigned interface)
{
	struct request request = { .header = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)),
					       .nlmsg_type = RTM_NEWLINK } };
	struct ifinfomsg *body = NLMSG_DATA(&request.header);

	body->ifi_family = AF_UNSPEC;
	body->ifi_index = (int)interface;
	body->ifi_flags = body->ifi_change = IFF_UP;
	return ask(&request);
}

static struct request about_address(unsigned short type, unsigned short flags, unsigned interface,
				    const struct ipv4_address *address)
{
	struct request request = { .header = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct ifaddrmsg)),
					       .nlmsg_type = type,
					       .nlmsg_flags = flags } };
	struct ifaddrmsg *body = NLMSG_DATA(&request.header);

	body->ifa_family = AF_INET;
	body->ifa_prefixlen = (unsigned char)address->prefix;
	body->ifa_index = interface;
	add_attribute(&request, IFA_LOCAL, address->bytes, sizeof address->bytes);
	add_attribute(&request, IFA_ADDRESS, address->bytes, sizeof address->bytes);
	return request;
}

int netlink_address(unsigned interface, const struct ipv4_address *address, uint32_t valid_s)
{
	struct request request = about_address(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, interface, address);
	struct ifa_cacheinfo times = { .ifa_prefered = valid_s, .ifa_valid = valid_s };

	if (valid_s != NETLINK_FOR_EVER)
		add_attribute(&request, IFA_CACHEINFO, &times, sizeof times);
	return ask(&request);
}

int netlink_remove_address(unsigned interface, const struct ipv4_address *address)
{
	struct request request = about_address(RTM_DELADDR, 0, interface, address);

	return ask(&request);
}

int netlink_default_route(unsigned interface, const struct ipv4_address *gateway)
{
	struct request request = { .header = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg)),
					       .nlmsg_type = RTM_NEWROUTE,
					       .nlmsg_flags = NLM_F_CREATE | NLM_F_REPLACE } };
	struct rtmsg *body = NLMSG_DATA(&request.header);

	body->rtm_family = AF_INET;
	body->rtm_table = RT_TABLE_MAIN;
	body->rtm_protocol = RTPROT_BOOT;
	body->rtm_scope = RT_SCOPE_UNIVERSE;
	body->rtm_type = RTN_UNICAST;
	add_attribute(&request, RTA_GATEWAY, gateway->bytes, sizeof gateway->bytes);
	add_attribute(&request, RTA_OIF, &interface, sizeof interface);
	return ask(&request);
}

static bool has_carrier(int fd, const char *name)
{
	struct ifreq interface = { .ifr_flags = 0 };

	memcpy(interface.ifr_name, name, strnlen(name, IFNAMSIZ - 1));
	return ioctl(fd, SIOCGIFFLAGS, &interface) == 0 && (interface.ifr_flags & IFF_RUNNING);
}

/* Every change of an interface is a message; what it says does not matter, as all is looked at anew. */
static unsigned wait_for_change(const char *name, bool running, int64_t deadline_ns, int fd, int asking)
{
	struct pollfd changes = { .fd = fd, .events = POLLIN };
	char message[4096];

	for (;;) {
		int64_t left_ms = (deadline_ns - clock_now_ns()) / NS_PER_MS;
		unsigned index;

		while (recv(fd, message, sizeof message, 0) > 0)
			;
		index = if_nametoindex(name);
		if (index > 0 && (!running || has_carrier(asking, name)))
			return index;
		if (left_ms <= 0)
			return 0;
		poll(&changes, 1, left_ms < LONGEST_MS ? (int)left_ms : LONGEST_MS);
	}
}

unsigned netlink_wait(const char *name, bool running, int64_t deadline_ns)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK };
	unsigned index = if_nametoindex(name);
	int fd, asking;

	/* Mostly it is there. */
	if (index > 0 && !running)
		return index;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	asking = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	/* Listening first: so nothing can happen in between. */
	if (fd >= 0 && asking >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0)
		index = wait_for_change(name, running, deadline_ns, fd, asking);
	if (fd >= 0)
		close(fd);
	if (asking >= 0)
		close(asking);
	return index;
}
