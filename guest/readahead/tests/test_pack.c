/* SPDX-License-Identifier: MIT */
/* Tests how packs are read: whole ones, 10,000 damaged ones, and ones made to do harm whose CRC fits. */
#include "../pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shared/tests/check.h"

static const char *why;

static void make(struct pack *pack)
{
	uint32_t file;

	*pack = (struct pack){ .root = 7, .packages = 8, .learned_s = 9, .order = ORDER_NEED };
	strcpy(pack->kernel, "6.1.0");
	strcpy(pack->goal, "goal");
	CHECK(!trials_add(&pack->trials, ORDER_NONE, 100) && !trials_add(&pack->trials, ORDER_NEED, 50));
	CHECK(!pack_add_file(pack, "usr/lib/a b", 11, &file) && file == 0);
	CHECK(!pack_add_file(pack, "sbin/init", 9, &file) && file == 1);
	CHECK(!pack_add_range(pack, &(struct range){ PACK_DEVICE, 4096, 8192, -1 }));
	CHECK(!pack_add_range(pack, &(struct range){ 1, 0, 4096, 1 << 20 }));
	CHECK(!pack_add_range(pack, &(struct range){ 0, 4096, 4096, -1 }));
}

static char *text_of_one(size_t *size)
{
	struct pack pack;
	char *text;

	make(&pack);
	CHECK(!pack_text(&pack, &text, size));
	pack_free(&pack);
	return text;
}

static void test_a_pack_is_read_as_it_was_written(void)
{
	struct pack pack;
	size_t size;
	char *text = text_of_one(&size), *padded = calloc(1, size + 1000);

	CHECK(padded && !pack_read(&pack, text, size, &why));
	CHECK(pack.root == 7 && pack.packages == 8 && pack.learned_s == 9 && pack.order == ORDER_NEED);
	CHECK(!strcmp(pack.kernel, "6.1.0") && !strcmp(pack.goal, "goal"));
	CHECK(pack.trials.n[ORDER_NONE] == 1 && pack.trials.ns[ORDER_NEED][0] == 50);
	CHECK(pack.n_files == 2 && !strcmp(pack.files[0], "usr/lib/a b") && pack.n_ranges == 3);
	CHECK(pack.ranges[0].file == PACK_DEVICE && pack.ranges[0].length == 8192);
	CHECK(pack.ranges[1].file == 1 && pack.ranges[1].physical == 1 << 20 && pack.ranges[2].physical == -1);
	pack_free(&pack);
	/* An image keeps room behind it, so that another pack moves nothing. */
	memcpy(padded, text, size);
	CHECK(!pack_read(&pack, padded, size + 1000, &why) && pack.n_ranges == 3);
	pack_free(&pack);
	free(padded);
	free(text);
}

/* Wherever it is cut, and whichever bytes are changed, but for what lies behind: refused, and nothing read beyond it. */
static void test_damaged_packs(void)
{
	size_t size;
	char *text = text_of_one(&size);

	srand(1);
	for (int i = 0; i < 10000; i++) {
		size_t kept = i % 2 ? size : (size_t)rand() % size;
		char *exact = malloc(kept ? kept : 1);
		struct pack pack;
		bool changed = kept < size;

		CHECK(exact);
		memcpy(exact, text, kept);
		for (int n = i % 2 ? 1 + rand() % 8 : 0; n > 0; n--) {
			size_t at = (size_t)rand() % kept;

			exact[at] = (char)(exact[at] + 1 + rand() % 255);
		}
		changed |= memcmp(exact, text, kept) != 0;
		CHECK((pack_read(&pack, exact, kept, &why) == -EINVAL) == changed);
		pack_free(&pack);
		free(exact);
	}
	free(text);
}

static uint32_t crc32_slowly(const char *text, size_t size)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < 8 * size; i++) {
		uint32_t bit = (crc ^ (uint32_t)((unsigned char)text[i / 8] >> i % 8)) & 1;

		crc = crc >> 1 ^ (bit ? 0xedb88320 : 0);
	}
	return ~crc;
}

static int reading(struct pack *pack, const char *rest)
{
	char text[4096];
	int size = snprintf(text, sizeof text, PACK_MAGIC "%zu %lu\n%s", strlen(rest), (unsigned long)crc32_slowly(rest, strlen(rest)), rest);

	CHECK(size > 0 && (size_t)size < sizeof text);
	return pack_read(pack, text, (size_t)size, &why);
}

#define HEAD "root 1\nkernel k\ngoal g\npackages 1\nlearned 1\norder block\n"

static void test_packs_that_would_do_harm(void)
{
	static const char *const lines[] = {
		"f /etc/shadow\n", "f ../etc\n", "f a/../../b\n", "f a/./b\n", "f a//b\n", "f a/\n", "f \n", "f a\tb\n", "d 0 0 1 0\n",
		"f a\nd 1 0 1 0\n", "f a\nd 0 -1 1 0\n", "f a\nd 0 0 0 0\n", "f a\nd 0 0 9223372036854775807 0\n", "f a\nd 0 0 1 -2\n",
		"m 0 2000000000\n", "m 9223372036854775807 1\n", "m 1\n", "m 1 1 1\n", "order sideways\n", "trial none 0\n",
		"trial none 1\ntrial none 1\ntrial none 1\ntrial none 1\n", "kernel\n", "kernel a b\n", "what 1\n", "\n",
	};
	struct pack pack;

	CHECK(!reading(&pack, HEAD "f a/..b/c..\nd 0 0 1 0\n"));
	pack_free(&pack);
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		char rest[1024];

		snprintf(rest, sizeof rest, HEAD "%s", lines[i]);
		CHECK(reading(&pack, rest) == -EINVAL);
		pack_free(&pack);
	}
	CHECK(reading(&pack, "root 1\n") == -EINVAL && !strcmp(why, "does not say what it was learned on"));
	pack_free(&pack);
}

/* Bytes changed at random behind a CRC that fits: read or refused, never beyond the bounds of a range. */
static void test_packs_made_at_random(void)
{
	static const char seed[] = HEAD "trial need 5\nf a/b\nf c\nm 4096 8192\nd 1 0 4096 77\nd 0 4096 1 -1\n";
	char rest[sizeof seed];

	srand(2);
	for (int i = 0; i < 100000; i++) {
		struct pack pack;

		memcpy(rest, seed, sizeof seed);
		for (int n = 1 + rand() % 4; n > 0; n--)
			rest[(size_t)rand() % (sizeof seed - 1)] = (char)(1 + rand() % 255);
		if (!reading(&pack, rest))
			for (size_t k = 0; k < pack.n_ranges; k++) {
				const struct range *range = &pack.ranges[k];

				CHECK(range->file == PACK_DEVICE || range->file < pack.n_files);
				CHECK(range->offset >= 0 && range->offset <= PACK_END && range->length > 0);
			}
		pack_free(&pack);
	}
}

int main(void)
{
	test_a_pack_is_read_as_it_was_written();
	test_damaged_packs();
	test_packs_that_would_do_harm();
	test_packs_made_at_random();
	return EXIT_SUCCESS;
}
