/* SPDX-License-Identifier: MIT */
/* Brings the network up: the loopback, fixed addresses from init.conf, and DHCP. */
#include "network.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "dhcp.h"
#include "early.h"
#include "netlink.h"
#include "shared/clock.h"
#include "shared/files.h"
#include "shared/print.h"

enum { LOOPBACK = 1, DEVICE_WAIT_S = 10, PATH_BYTES = 256 };

int network_loopback(void)
{
	int r = netlink_up(LOOPBACK);

	/* A kernel without a network, or without netlink for routes. */
	return r == -EAFNOSUPPORT || r == -EPROTONOSUPPORT || r == -ENODEV || r == -EOPNOTSUPP ? 0 : r;
}

bool network_is_dhcp(const struct setting *setting)
{
	return !strcmp(setting->key, "address") && setting->n_words > 1 && !strcmp(setting->words[1], "dhcp");
}

/* "accept_dad=0": the kernel's own name of it, and what it is to be. */
static int set_ipv6(const char *interface, const char *word)
{
	const char *equals = strchr(word, '=');
	char path[PATH_BYTES];
	int size;

	if (!equals || equals == word || !equals[1] || memchr(word, '/', (size_t)(equals - word)) || strchr(interface, '/'))
		return -EINVAL;
	size = print(path, sizeof path, "/proc/sys/net/ipv6/conf/%s/%.*s", interface, (int)(equals - word), word);
	return size < (int)sizeof path ? file_write(path, equals + 1) : -ENAMETOOLONG;
}

/* Before the interface is up: with that the kernel begins to probe and to solicit. A kernel without IPv6 does neither. */
static int set_ipv6_of(const char *interface)
{
	const struct setting *setting;
	size_t at = 0;
	int first = 0;

	while (file_exists("/proc/sys/net/ipv6") && (setting = early_next_setting("ipv6", &at)))
		for (size_t i = 1; !strcmp(setting->words[0], interface) && i < setting->n_words; i++) {
			int r = set_ipv6(interface, setting->words[i]);

			first = early_complain_word(setting, i, r, first);
		}
	return first;
}

/* The interface, once it is there, and up. */
static int bring_up(const char *name, unsigned *ret)
{
	int r, first;

	*ret = netlink_wait(name, false, clock_now_ns() + DEVICE_WAIT_S * NS_PER_S);
	if (*ret == 0)
		return -ENODEV;
	first = set_ipv6_of(name);
	r = netlink_up(*ret);
	return r ? r : first;
}

static int set_address(const struct setting *setting)
{
	struct ipv4_address address, gateway;
	unsigned interface;
	int r;

	if (setting->n_words < 2 || ipv4_parse(setting->words[1], &address) ||
	    (setting->n_words > 2 && ipv4_parse(setting->words[2], &gateway)))
		return -EINVAL;
	r = bring_up(setting->words[0], &interface);
	if (interface == 0)
		return r;
	r = netlink_address(interface, &address, NETLINK_FOR_EVER);
	return r || setting->n_words < 3 ? r : netlink_default_route(interface, &gateway);
}

int network_addresses(void)
{
	const struct setting *setting;
	size_t at = 0;
	int first = 0;

	while ((setting = early_next_setting("address", &at)))
		if (!network_is_dhcp(setting))
			first = early_complain(setting, set_address(setting), first);
	return first;
}

int network_dhcp(const char *interface, int ready_fd)
{
	unsigned index;
	int r = bring_up(interface, &index);

	if (index == 0)
		return r;
	return dhcp_run(interface, ready_fd);
}
