/* SPDX-License-Identifier: MIT */
/* Tests how an identity is read: whole, of a machine that is no clone, cut off at every byte, and with each kind of mistake. */
#include "clone/identity.h"

#include <errno.h>
#include <string.h>

#include "check.h"

#define SEED "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff"
#define ID "0123456789abcdef0123456789abcdef"

static const char WHOLE[] = "bootlab-clone 1\n"
			    "number 3\n"
			    "seed " SEED "\n"
			    "time_us 1800000003000000\n"
			    "name a-3\n"
			    "machine-id " ID "\n"
			    "mac 52:54:00:0a:0b:0c\n"
			    "end\n\n\n\n";

static int read_text(const char *text, size_t size, struct identity *ret, unsigned *line)
{
	*line = 0;
	return identity_read(text, size, ret, line);
}

static void test_whole(void)
{
	static const uint8_t mac[] = { 0x52, 0x54, 0, 0x0a, 0x0b, 0x0c };
	struct identity identity;
	unsigned line;

	CHECK(!read_text(WHOLE, strlen(WHOLE), &identity, &line));
	CHECK(identity.number == 3 && identity.time_us == 1800000003000000);
	CHECK(identity.has_seed && identity.seed[1] == 1 && identity.seed[31] == 0xff);
	CHECK(identity.has_mac && !memcmp(identity.mac, mac, sizeof mac));
	CHECK(!strcmp(identity.name, "a-3") && !strcmp(identity.machine_id, ID));
}

static void test_no_clone(void)
{
	static const char text[] = "bootlab-clone 1\nend\n";
	struct identity identity;
	unsigned line;

	CHECK(!read_text(text, strlen(text), &identity, &line));
	CHECK(!identity.number && !identity.has_seed && !identity.has_mac && !identity.name[0] && !identity.machine_id[0]);
}

static void test_held(void)
{
	static const char text[] = "bootlab-clone 1\nheld snapshot\nend\n";
	struct identity identity;
	unsigned line;

	CHECK(!read_text(text, strlen(text), &identity, &line));
	CHECK(!identity.number && !strcmp(identity.held, "snapshot"));
}

static void test_cut_off_is_none(void)
{
	struct identity identity;
	unsigned line;

	for (size_t size = 0; size < (size_t)(strstr(WHOLE, "end") + 3 - WHOLE); size++)
		CHECK(read_text(WHOLE, size, &identity, &line) == -EINVAL);
}

static void test_mistakes(void)
{
	static const struct {
		const char *text;
		unsigned line;
	} cases[] = {
		{ "bootlab-clone 2\nend\n", 1 },
		{ "number 3\nend\n", 1 },
		{ "bootlab-clone 1\nnumber 0\nend\n", 2 },
		{ "bootlab-clone 1\nnumber 3 4\nend\n", 2 },
		{ "bootlab-clone 1\nnumber\nend\n", 2 },
		{ "bootlab-clone 1\nnumber 3\nwho me\nend\n", 3 },
		{ "bootlab-clone 1\nseed 00\nend\n", 2 },
		{ "bootlab-clone 1\nmachine-id 0123456789ABCDEF0123456789abcdef\nend\n", 2 },
		{ "bootlab-clone 1\nmac 52-54-00-0a-0b-0c\nend\n", 2 },
		{ "bootlab-clone 1\nmac 52:54:00:0a:0b\nend\n", 2 },
		{ "bootlab-clone 1\nname 12345678901234567890123456789012345678901234567890123456789012345\nend\n", 2 },
		{ "bootlab-clone 1\ntime_us -5\nend\n", 2 },
		{ "bootlab-clone 1\nheld\nend\n", 2 },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct identity identity = { .number = 77 };
		unsigned line;

		CHECK(read_text(cases[i].text, strlen(cases[i].text), &identity, &line) == -EINVAL);
		CHECK(line == cases[i].line);
		CHECK(identity.number == 77);
	}
}

int main(void)
{
	test_whole();
	test_no_clone();
	test_held();
	test_cut_off_is_none();
	test_mistakes();
	return 0;
}
