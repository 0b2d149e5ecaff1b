/* SPDX-License-Identifier: MIT */
/* DHCP's messages: what is written can be read by the rules of RFC 2131, answers mean what they say, and nothing that may
 * come from a network is read beyond its end. */
#include "check.h"
#include "dice.h"

#include "boot/dhcp_message.h"

enum { TRANSACTION = 0x12345678, ROUNDS = 300000, MOST_CHANGES = 6, OPTIONS_AT = 240, LEAST_BYTES = 300 };

static const uint8_t CARD[] = { 0x52, 0x54, 0, 0x12, 0x34, 0x56 }, OTHER_CARD[] = { 0x52, 0x54, 0, 0x12, 0x34, 0x57 };

/* An answer with these options; its size. */
static size_t answer(uint8_t *ret, const uint8_t *options, size_t size)
{
	struct dhcp_request request = { .type = DHCP_REQUEST, .transaction = TRANSACTION };

	memcpy(request.hardware, CARD, sizeof CARD);
	dhcp_write(&request, ret);
	ret[0] = 2;
	memcpy(ret + 16, (const uint8_t[]){ 10, 0, 2, 15 }, 4);
	memset(ret + OPTIONS_AT, 0, LEAST_BYTES - OPTIONS_AT);
	memcpy(ret + OPTIONS_AT, options, size);
	return OPTIONS_AT + size;
}

static const uint8_t FULL[] = { 53, 1, 5,   54, 4, 10,	0,   2,	  2,   1,   4,	 255, 255, 255, 0,  3,	 8,  10, 0,   2,   2,
				10, 0, 2,   3,	0, 6,	8,   10,  0,   2,   3,	 8,   8,   8,	8,  15,	 11, 'e', 'x', 'a', 'm',
				'p', 'l', 'e', '.', 'o', 'r', 'g', 51, 4, 0, 0, 0x0e, 0x10, 255 };

static void test_what_an_answer_says(void)
{
	uint8_t bytes[DHCP_FRAME_BYTES];
	struct dhcp_answer got;
	size_t size = answer(bytes, FULL, sizeof FULL);

	CHECK(!dhcp_read(bytes, size, TRANSACTION, CARD, &got));
	CHECK(got.type == DHCP_ACK && got.address.bytes[3] == 15 && got.address.prefix == 24);
	CHECK(got.has_server && got.server.bytes[3] == 2 && got.has_router && got.router.bytes[3] == 2);
	CHECK(got.n_name_servers == 2 && got.name_servers[1].bytes[0] == 8 && !strcmp(got.domain, "example.org"));
	/* RFC 2131 4.4.5: half, and seven eighths. */
	CHECK(got.lease_s == 3600 && got.renew_s == 1800 && got.rebind_s == 3150 && !got.rapid);
	CHECK(dhcp_read(bytes, size, TRANSACTION + 1, CARD, &got));
	CHECK(dhcp_read(bytes, size, TRANSACTION, OTHER_CARD, &got));
	bytes[0] = 1;
	CHECK(dhcp_read(bytes, size, TRANSACTION, CARD, &got));
}

static int read_options(const uint8_t *options, size_t size, struct dhcp_answer *got)
{
	uint8_t bytes[DHCP_FRAME_BYTES];
	/* Of exactly its size, so that a byte too far is seen. */
	size_t whole = answer(bytes, options, size);
	uint8_t *exact = malloc(whole);
	int r;

	CHECK(exact);
	memcpy(exact, bytes, whole);
	r = dhcp_read(exact, whole, TRANSACTION, CARD, got);
	free(exact);
	return r;
}

#define READ(...) read_options((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }), &got)

static void test_odd_answers(void)
{
	struct dhcp_answer got;

	/* Nothing of a lease is needed to refuse one, and nothing but a type is an answer. */
	CHECK(!READ(53, 1, 6, 255) && got.type == DHCP_NAK);
	CHECK(READ(255) && READ(53, 1, 3, 255) && READ(53, 1));
	/* A lease of no time, no mask at all, one with a hole, one of nothing. */
	CHECK(READ(53, 1, 5, 255));
	CHECK(!READ(53, 1, 5, 51, 4, 0, 0, 0, 9) && got.address.prefix == 8 && got.renew_s == 4 && got.rebind_s == 8);
	CHECK(READ(53, 1, 5, 51, 4, 0, 0, 0, 9, 1, 4, 255, 0, 255, 0, 255));
	CHECK(READ(53, 1, 5, 51, 4, 0, 0, 0, 9, 1, 4, 0, 0, 0, 0, 255));
	CHECK(!READ(53, 1, 5, 51, 4, 0, 0, 0, 9, 1, 4, 255, 255, 255, 255) && got.address.prefix == 32);
	/* Its own times, and impossible ones. */
	CHECK(!READ(53, 1, 5, 51, 4, 0, 0, 0, 100, 58, 4, 0, 0, 0, 5, 59, 4, 0, 0, 0, 10) && got.renew_s == 5 &&
	      got.rebind_s == 10);
	CHECK(!READ(53, 1, 5, 51, 4, 0, 0, 0, 100, 58, 4, 0, 0, 1, 5, 59, 4, 0, 0, 1, 10) && got.renew_s == 50 &&
	      got.rebind_s == 88);
	CHECK(!READ(53, 1, 5, 51, 4, 255, 255, 255, 255) && got.lease_s == DHCP_FOR_EVER);
	/* A name that would write lines into resolv.conf is none. */
	CHECK(!READ(53, 1, 5, 51, 4, 0, 0, 0, 9, 15, 3, 'a', '\n', 'b') && got.domain[0] == '\0');
	CHECK(!READ(53, 1, 5, 51, 4, 0, 0, 0, 9, 15, 2, 'a', '\0', 80, 0) && !strcmp(got.domain, "a") && got.rapid);
	/* One name server cut short, and an option beyond the end. */
	CHECK(!READ(53, 1, 5, 51, 4, 0, 0, 0, 9, 6, 5, 1, 2, 3, 4, 5) && got.n_name_servers == 1);
	CHECK(READ(53, 1, 5, 51, 4, 0, 0, 0, 9, 6, 200, 1, 2));
}

static void test_options_in_other_fields(void)
{
	static const uint8_t LEASE[] = { 51, 4, 0, 0, 0, 60, 255 }, SERVER[] = { 54, 4, 1, 2, 3, 4, 255 };
	static const uint8_t OVERLOADED[] = { 53, 1, 5, 52, 1, 3, 255 };
	uint8_t bytes[DHCP_FRAME_BYTES];
	struct dhcp_answer got;
	size_t size = answer(bytes, OVERLOADED, sizeof OVERLOADED);

	memcpy(bytes + 108, LEASE, sizeof LEASE);
	memcpy(bytes + 44, SERVER, sizeof SERVER);
	CHECK(!dhcp_read(bytes, size, TRANSACTION, CARD, &got));
	CHECK(got.lease_s == 60 && got.has_server && got.server.bytes[3] == 4);
}

static size_t find_option(const uint8_t *bytes, uint8_t option)
{
	for (size_t at = OPTIONS_AT; bytes[at] != 255; at += 2 + (size_t)bytes[at + 1])
		if (bytes[at] == option)
			return at;
	return 0;
}

/* What is asked, with its headers: a server's answer to it would be read again. */
static void test_what_is_asked(void)
{
	struct dhcp_request request = { .type = DHCP_DISCOVER, .transaction = TRANSACTION, .host_name = "camera" };
	uint8_t bytes[DHCP_FRAME_BYTES], swap[2];
	struct dhcp_answer got;
	size_t size;

	memcpy(request.hardware, CARD, sizeof CARD);
	size = dhcp_write(&request, bytes);
	CHECK(size >= 300 && bytes[10] == 0x80 && find_option(bytes, 80) && !find_option(bytes, 50));
	CHECK(!memcmp(bytes + find_option(bytes, 12) + 2, "camera", 6));
	request = (struct dhcp_request){ .type = DHCP_REQUEST, .own = { .bytes = { 10, 0, 2, 15 } } };
	dhcp_write(&request, bytes);
	/* RFC 2131 4.3.2, renewing: neither server nor requested address, and answered at its own. */
	CHECK(bytes[10] == 0 && bytes[12] == 10 && !find_option(bytes, 50) && !find_option(bytes, 54));
	request = (struct dhcp_request){ .type = DHCP_DISCOVER, .transaction = TRANSACTION };
	memcpy(request.hardware, CARD, sizeof CARD);
	size = dhcp_write_frame(&request, bytes);
	answer(bytes + 28, FULL, sizeof FULL);
	CHECK(dhcp_read_frame(bytes, size, TRANSACTION, CARD, &got));
	memcpy(swap, bytes + 20, 2);
	memcpy(bytes + 20, bytes + 22, 2);
	memcpy(bytes + 22, swap, 2);
	CHECK(!dhcp_read_frame(bytes, size, TRANSACTION, CARD, &got) && got.lease_s == 3600);
	CHECK(dhcp_read_frame(bytes, size - 1, TRANSACTION, CARD, &got));
	bytes[6] = 0x20;
	CHECK(dhcp_read_frame(bytes, size, TRANSACTION, CARD, &got));
}

static void test_damaged_frames(void)
{
	struct dhcp_request request = { .type = DHCP_DISCOVER, .transaction = TRANSACTION };
	uint8_t whole[DHCP_FRAME_BYTES];
	unsigned taken = 0;
	size_t size;

	memcpy(request.hardware, CARD, sizeof CARD);
	size = dhcp_write_frame(&request, whole);
	answer(whole + 28, FULL, sizeof FULL);
	memcpy(whole + 20, (const uint8_t[]){ 0, 67, 0, 68 }, 4);
	for (int round = 0; round < ROUNDS; round++) {
		bool frame = round % 4 == 0;
		size_t from = frame ? 0 : 28, length = size - from, cut = below(4) ? length : 1 + below((uint32_t)length);
		uint8_t *bytes = malloc(cut);
		struct dhcp_answer got;

		CHECK(bytes);
		memcpy(bytes, whole + from, cut);
		for (uint32_t i = below(MOST_CHANGES); i > 0; i--)
			/* Mostly where the options are. */
			bytes[below(2) && cut > length - 100 ? cut - 1 - below(100) : below((uint32_t)cut)] = (uint8_t)below(256);
		if ((frame ? dhcp_read_frame : dhcp_read)(bytes, cut, TRANSACTION, CARD, &got) == 0 && got.type != DHCP_NAK) {
			taken++;
			CHECK(got.address.prefix >= 1 && got.address.prefix <= 32 && got.renew_s <= got.rebind_s);
			CHECK(got.n_name_servers <= DHCP_NAME_SERVERS && strlen(got.domain) < sizeof got.domain);
		}
		free(bytes);
	}
	/* Many come through: that is where something could be wrong. */
	CHECK(taken > ROUNDS / 10);
}

int main(void)
{
	begin();
	test_what_an_answer_says();
	test_odd_answers();
	test_options_in_other_fields();
	test_what_is_asked();
	test_damaged_frames();
	puts("test_dhcp: ok");
	return 0;
}
