/* SPDX-License-Identifier: MIT */
/* Tests the header of a region: written and read again, lost, and damaged in any of its bits. */
#include "kept/header.h"

#include <errno.h>
#include <string.h>

#include "check.h"

#define ROOT "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static char block[HEADER_SIZE];

static void test_whole(void)
{
	struct header header = { .state = "valid", .root = ROOT, .bytes = 1 << 20 }, again;

	header_write(&header, block);
	CHECK(!header_read(block, &again));
	CHECK(!strcmp(again.state, "valid") && !strcmp(again.root, ROOT) && again.bytes == 1 << 20);
}

static void test_every_bit(void)
{
	struct header again;

	for (size_t i = 0; i < 8 * sizeof block; i++) {
		block[i / 8] ^= (char)(1 << i % 8);
		CHECK(header_read(block, &again) == -EBADMSG);
		block[i / 8] ^= (char)(1 << i % 8);
	}
	CHECK(!header_read(block, &again));
}

static void test_lost_and_full(void)
{
	struct header again;

	memset(block, 0, sizeof block);
	CHECK(header_read(block, &again) == -ENODATA);
	memset(block, 'a', sizeof block);
	CHECK(header_read(block, &again) == -EBADMSG);
}

static void test_trial(void)
{
	struct header header = { .state = "trying", .root = ROOT, .bytes = 8192 };

	CHECK(!header_expect_trial(&header, ROOT, 8192));
	CHECK(header_expect_trial(&header, ROOT, 4096) && header_expect_trial(&header, "00", 8192));
	strcpy(header.state, "valid");
	CHECK(!header_expect_trial(&header, ROOT, 8192));
	/* What was refused, or is half there, stays so whoever says that the system is ready. */
	strcpy(header.state, "bad");
	CHECK(header_expect_trial(&header, ROOT, 8192));
	strcpy(header.state, "filling");
	CHECK(header_expect_trial(&header, ROOT, 8192));
}

int main(void)
{
	test_trial();
	CHECK(crc32_of("123456789", 9) == 0xcbf43926);
	test_whole();
	test_every_bit();
	test_lost_and_full();
	return 0;
}
