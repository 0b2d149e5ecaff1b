/* SPDX-License-Identifier: MIT */
/*
 * Every reader of files, on files that nobody meant to write: real ones with bytes changed, taken out, doubled and mixed, the
 * same ones every time. The sanitizers watch; and a graph that comes out of it must be one that can be started: no cycles.
 */
#include "boot/netlink.h"
#include "check.h"
#include "dice.h"
#include "units/config.h"
#include "units/graph.h"
#include "units/lsb_unit.h"
#include "units/service_file.h"
#include "units/unit_file.h"

enum { ROUNDS = 4000, TEXT_BYTES = 2048, UNITS_A_ROUND = 6 };

static const char *const SEEDS[] = {
	"exec /bin/a \"b c\" 'd'\nneeds u1 u2\nwants u3\nafter u4\nbefore u5 u0\nprovides $net name\nready fd 6\ntimeout 1.5s\n"
	"listen tcp 10.0.0.1:80\nlisten udp [::1]:53\nlisten unix /run/u/s 0600\n"
	"env A=\"1\" B=2\nrestart always\nmark m\npidfile /run/x\nready pidfile\nstop /bin/b\nnice -3\n",
	"### BEGIN INIT INFO\n# Provides: u1 x\n# Required-Start: $remote_fs u2 $all\n# Should-Start: +u3\n# X-Start-Before: u4\n"
	"# X-Stop-After: u5\n# Required-Stop: u0\n# Default-Start: 2 3 S\n# Default-Stop: 0\n# Description: a\n#  b\n"
	"### END INIT INFO\n",
	"[Unit]\nAfter=u1.service network.target\nRequires=u1.service u2.service\nBefore=u3.service\nWants=u4.service\n[Service]\n"
	"Type=forking\nExecStartPre=-/bin/a\nExecStart=/bin/b ${X} \\\n $Y\nEnvironment=\"A=1\"\nRestart=on-failure\n"
	"TimeoutSec=1min 30s\nPIDFile=/run/a\nAlias=other.service\n",
	"$local_fs +u1 u2\n$network u3 $local_fs\n<interactive> u4\n$remote_fs $local_fs +u5\n",
	"goal u1 u2\nstarting auto\nlevel 2\nmount /dev/a /b ext4 \"ro,noatime\"\naddress eth0 10.0.0.1/8 10.0.0.2\nwatchdog /dev/w "
	"30s\nhostname h\nsysctl a.b c\non-failure shell\nemergency /bin/sh\nshutdown-timeout 10s\n",
};
enum { N_SEEDS = sizeof SEEDS / sizeof SEEDS[0] };

static size_t mutate(const char *seed, char *text)
{
	static const char LIKELY[] = "\n\n  \t\"'\\#$=+-:/0S9.,\0\xff[]";
	size_t size = strlen(seed);

	memcpy(text, seed, size);
	for (unsigned i = below(12); i > 0 && size > 1; i--) {
		size_t at = below((unsigned)size), length = 1 + below(16);

		length = length > size - at ? size - at : length;
		switch (below(4)) {
		case 0:
			text[at] = LIKELY[below(sizeof LIKELY - 1)];
			break;
		case 1:
			text[at] = (char)below(256);
			break;
		case 2:
			memmove(text + at, text + at + length, size - at - length);
			size -= length;
			break;
		default:
			if (size + length > TEXT_BYTES)
				break;
			memmove(text + at + length, text + at, size - at);
			size += length;
		}
	}
	return size;
}

static void read_one(unsigned which, const char *name, const char *text, size_t size)
{
	struct config config;
	struct unit *unit = NULL;

	switch (which) {
	case 0:
		unit = unit_file_parse(&units, slice_of(name), "a", text, size);
		break;
	case 1:
		unit = lsb_unit_parse(&units, &(struct lsb_source){ .script = slice_of(name), .script_path = "b",
								    .header_path = "b", .text = text, .size = size });
		break;
	case 2:
		unit = service_file_begin(&units, slice_of(name), "c");
		if (unit) {
			service_file_read("c", text, size);
			service_file_finish();
		}
		break;
	case 3:
		facilities_parse(&units, "d", text, size);
		break;
	default:
		config_init(&config);
		config_parse(&config, &units, "e", text, size);
	}
	if (unit)
		unit->enabled = true;
}

/* Take units away that wait for nothing that is left, until none is left. */
static bool can_be_ordered(uint8_t when)
{
	static bool gone[MAX_UNITS];
	size_t left = units.n_units;
	bool moved = true;

	memset(gone, 0, sizeof gone);
	while (moved) {
		moved = false;
		for (size_t i = 0; i < units.n_units; i++) {
			bool free = !gone[i];

			for (edge_id e = units.unit[i].edges_out; e != NO_EDGE; e = units.edges[e].next_of_from)
				free &= !(units.edges[e].when & when) || gone[units.edges[e].to];
			if (free) {
				gone[i] = moved = true;
				left--;
			}
		}
	}
	return left == 0;
}

int main(void)
{
	static const char *const GOALS[] = { "u1", "u2", NULL };
	struct ipv4_address address;
	/* Of exactly its size, so that a byte too far is seen. */
	char scratch[TEXT_BYTES], name[8];

	for (int round = 0; round < ROUNDS; round++) {
		begin();
		for (unsigned i = 0; i < UNITS_A_ROUND; i++) {
			size_t size = mutate(SEEDS[round < 100 ? i % N_SEEDS : below(N_SEEDS)], scratch);
			char *text = malloc(size);

			CHECK(text);
			memcpy(text, scratch, size);
			snprintf(name, sizeof name, "u%u", i);
			read_one(below(N_SEEDS), name, text, size);
			free(text);
		}
		graph_resolve(&units, &(struct graph_options){ .goals = round % 2 ? GOALS : NULL });
		CHECK(can_be_ordered(AT_START) && can_be_ordered(AT_STOP));
		scratch[mutate("10.0.2.15/24", scratch)] = '\0';
		ipv4_parse(scratch, &address);
	}
	CHECK(!ipv4_parse("192.168.1.2/24", &address) && address.bytes[3] == 2 && address.prefix == 24);
	CHECK(ipv4_parse("192.168.1", &address) && ipv4_parse("1.2.3.4/33", &address) && ipv4_parse("1.2.3.256", &address));
	puts("test_mutations: ok");
	return 0;
}
