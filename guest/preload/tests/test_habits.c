/* SPDX-License-Identifier: MIT */
/* Tests what is expected of the next session after some, what is forgotten, and 10,000 files of habits that somebody damaged. */
#include "../habits.h"

#include <stdlib.h>
#include <string.h>

#include "readahead/store.h"
#include "shared/clock.h"
#include "shared/tests/check.h"

/* A session of `user` that read these files, a page of each, and opened those. */
static void session(struct habits *habits, const char *user, const char *const *read, char *const *opened)
{
	struct pack pack = { 0 };
	size_t n = 0;

	for (size_t i = 0; read && read[i]; i++) {
		struct range range = { 0, (int64_t)i * 4096, 4096, (int64_t)i * 8192 };

		CHECK(!pack_add_file(&pack, read[i], strlen(read[i]), &range.file));
		CHECK(!pack_add_range(&pack, &range));
	}
	while (opened && opened[n])
		n++;
	CHECK(!habits_learn(habits, user, &pack, opened, n));
	pack_free(&pack);
}

static int64_t expected(const struct habits *habits, const char *path, const char *user)
{
	for (size_t file = 0; file < habits->pack.n_files; file++)
		if (!strcmp(habits->pack.files[file], path))
			return habits_expect(habits, file, user);
	return -1;
}

static void test_sessions(void)
{
	struct habits habits = { .pack = { .kernel = "6.1" } };
	struct pack pick;
	char *both[] = { "usr/bin/editor", "usr/bin/wm", NULL }, *wm[] = { "usr/bin/wm", NULL };

	session(&habits, "ann", (const char *const[]){ "usr/bin/wm", "usr/bin/editor", NULL }, both);
	CHECK(expected(&habits, "usr/bin/wm", NULL) == 1000 && expected(&habits, "usr/bin/editor", "ann") == 1000);
	/* All of it was in memory; one of the two was not opened. */
	session(&habits, "ann", NULL, wm);
	CHECK(expected(&habits, "usr/bin/wm", NULL) == 1000);
	CHECK(expected(&habits, "usr/bin/editor", NULL) == 750 * 1000 / 1750);
	CHECK(!habits_pick(&habits, &pick) && pick.n_files == 2 && pick.n_ranges == 2);
	pack_free(&pick);
	for (int i = 0; i < 2; i++)
		session(&habits, "ann", NULL, wm);
	CHECK(!habits_pick(&habits, &pick) && pick.n_files == 1 && pick.n_ranges == 1);
	CHECK(!strcmp(pick.files[0], "usr/bin/wm") && pick.ranges[0].file == 0);
	pack_free(&pick);
	for (int i = 0; i < 12; i++)
		session(&habits, "ann", NULL, wm);
	CHECK(expected(&habits, "usr/bin/editor", NULL) == -1);
	/* Nobody knows what was opened: what is known stays. */
	session(&habits, "ann", NULL, NULL);
	CHECK(expected(&habits, "usr/bin/wm", NULL) == 1000);
	habits_free(&habits);
}

static void test_users(void)
{
	struct habits habits = { .pack = { .kernel = "6.1" } };
	char *a[] = { "bin/a", NULL }, *b[] = { "bin/b", NULL };

	session(&habits, "ann", (const char *const[]){ "bin/a", NULL }, a);
	session(&habits, "bob", (const char *const[]){ "bin/b", NULL }, b);
	CHECK(expected(&habits, "bin/a", "ann") == 1000 && expected(&habits, "bin/a", "bob") == 0);
	CHECK(expected(&habits, "bin/a", NULL) == 750 * 1000 / 1750 && expected(&habits, "bin/b", NULL) == 1000 * 1000 / 1750);
	/* One more than there is room for: the one who has not come for longest makes place. */
	for (int i = 0; i < HABITS_USERS - 1; i++) {
		char name[2] = { (char)('c' + i), 0 };

		session(&habits, name, NULL, b);
	}
	CHECK(habits.n_users == HABITS_USERS && expected(&habits, "bin/a", "ann") <= 0);
	habits_free(&habits);
}

static void test_bounds(void)
{
	struct habits habits = { .pack = { .kernel = "6.1" } };
	struct pack pack = { 0 };

	for (int i = 0; i < HABITS_FILES + 10; i++) {
		struct range range = { 0, 0, 4096, -1 };
		char name[16];

		snprintf(name, sizeof name, "f%d", i);
		CHECK(!pack_add_file(&pack, name, strlen(name), &range.file));
		CHECK(!pack_add_range(&pack, &range));
	}
	CHECK(!habits_learn(&habits, "ann", &pack, NULL, 0));
	CHECK(habits.pack.n_files == HABITS_FILES && habits.pack.n_ranges == HABITS_FILES && habits.left_out == 10);
	pack_free(&pack);
	habits_free(&habits);
}

/* More than any session has, and all of it unlike: seconds would be a daemon that is in a user's way. */
static void test_many(void)
{
	struct habits habits = { .pack = { .kernel = "6.1" } };
	struct pack pack = { 0 };
	int64_t began_ns = clock_now_ns(), took_ns;

	for (int i = 0; i < PACK_FILES; i++) {
		uint32_t file;
		char name[64];

		snprintf(name, sizeof name, "usr/share/a-folder-with-a-name/of-some-length/%d", i);
		CHECK(!pack_add_file(&pack, name, strlen(name), &file));
	}
	for (int i = 0; i < 1 << 17; i++)
		CHECK(!pack_add_range(&pack, &(struct range){ i & 1 ? PACK_DEVICE : 0, (int64_t)i * 8192, 4096, -1 }));
	for (int i = 0; i < 2; i++)
		CHECK(!habits_learn(&habits, "ann", &pack, NULL, 0));
	took_ns = clock_now_ns() - began_ns;
	CHECK(habits.pack.n_files == HABITS_FILES && habits.pack.n_ranges == HABITS_RANGES);
	CHECK(took_ns < INT64_C(5000000000));
	pack_free(&pack);
	habits_free(&habits);
}

/* The longest paths and the furthest ranges are a file that can be written and read. */
static void test_room(void)
{
	struct habits habits = { .pack = { .kernel = "6.1" } }, again;
	struct pack pack = { 0 };
	static char name[2001];
	const char *why;
	size_t size;
	char *text;

	memset(name, 'x', sizeof name - 1);
	for (int i = 0; i < HABITS_FILES; i++) {
		uint32_t file;

		snprintf(name, 16, "%08d", i);
		name[8] = 'x';
		CHECK(!pack_add_file(&pack, name, strlen(name), &file));
	}
	for (int i = 0; i < HABITS_RANGES; i++)
		CHECK(!pack_add_range(&pack, &(struct range){ 0, PACK_END - (int64_t)i * 8192, 4096, PACK_END }));
	CHECK(!habits_learn(&habits, "ann", &pack, NULL, 0));
	CHECK(habits.left_out > 0 && habits.pack.n_files > 1000);
	CHECK(!habits_text(&habits, &text, &size) && !habits_read(&again, text, size, &why));
	free(text);
	habits_free(&again);
	pack_free(&pack);
	habits_free(&habits);
}

/* A file that took another's name while the session was looked at: it was opened in one session, not in two. */
static void test_twice(void)
{
	struct habits habits = { .pack = { .kernel = "6.1" } }, again;
	const char *why;
	size_t size;
	char *text;

	session(&habits, "ann", (const char *const[]){ "bin/a", NULL }, NULL);
	session(&habits, "ann", (const char *const[]){ "bin/a", "bin/a", NULL }, NULL);
	CHECK(expected(&habits, "bin/a", NULL) == 1000);
	CHECK(!habits_text(&habits, &text, &size) && !habits_read(&again, text, size, &why));
	free(text);
	habits_free(&again);
	habits_free(&habits);
}

/* What a document says of how long a file is remembered. */
static void test_forgotten(void)
{
	struct habits habits = { .pack = { .kernel = "6.1" } };
	char *none[] = { "bin/b", NULL }, *both[] = { "bin/a", "bin/b", NULL };
	int64_t before = 0;

	session(&habits, "ann", (const char *const[]){ "bin/a", "bin/b", NULL }, both);
	for (int after = 1; after <= 2; after++) {
		before = expected(&habits, "bin/a", NULL);
		session(&habits, "ann", NULL, none);
	}
	/* Read ahead after one session without it, not after two. */
	CHECK(before >= HABITS_EXPECTED && expected(&habits, "bin/a", NULL) < HABITS_EXPECTED);
	/* It was not read ahead, and so nobody opened it that would not have been seen. */
	before = expected(&habits, "bin/a", NULL);
	session(&habits, "ann", NULL, NULL);
	CHECK(expected(&habits, "bin/a", NULL) < before && expected(&habits, "bin/b", NULL) == 1000);
	for (int after = 4; after <= 8; after++)
		session(&habits, "ann", NULL, none);
	CHECK(expected(&habits, "bin/a", NULL) >= 0);
	session(&habits, "ann", NULL, none);
	CHECK(expected(&habits, "bin/a", NULL) == -1);
	habits_free(&habits);
}

static void test_text(void)
{
	struct habits habits = { .pack = { .kernel = "6.1", .root = 7, .packages = 9 } }, again;
	struct pack pack = { 0 };
	struct range metadata = { PACK_DEVICE, 8192, 4096, -1 };
	char *text, *other;
	const char *why;
	size_t size, other_size;

	CHECK(!pack_add_range(&pack, &metadata));
	CHECK(!habits_learn(&habits, "ann", &pack, NULL, 0));
	pack_free(&pack);
	session(&habits, "bob", (const char *const[]){ "a b/c", "d", NULL }, NULL);
	CHECK(!habits_text(&habits, &text, &size));
	CHECK(!habits_read(&again, text, size, &why));
	CHECK(again.pack.root == 7 && again.pack.n_files == 2 && again.pack.n_ranges == 3 && again.n_users == 2);
	CHECK(!habits_text(&again, &other, &other_size) && size == other_size && !memcmp(text, other, size));
	free(other);
	habits_free(&again);
	srand(5);
	for (int i = 0; i < 10000; i++) {
		char *damaged = strdup(text);
		size_t cut = i % 3 ? size : (size_t)rand() % (size + 1);

		CHECK(damaged);
		damaged[(size_t)rand() % size] = (char)rand();
		if (!habits_read(&again, damaged, cut, &why))
			CHECK(again.n_users == 2 && cut == size && !memcmp(damaged, text, size));
		habits_free(&again);
		free(damaged);
	}
	free(text);
	habits_free(&habits);
}

/* The CRC fits, and it is of no good all the same. */
static void test_hostile(void)
{
	static const char *const lines[] = {
		"user x 4001\n", "user x -1\n", "user\n", "f 0 /etc/shadow\n", "f 0 ../x\n", "f 1001 x\n", "f\n", "d 0 0 1 1\n",
		"d 5 0 4096 1\n", "m -1 4096\n", "m 0 0\n", "m 0 4096 1\n", "root -1\n", "what 1\n", "\n", "f 0 a\nd 0 0 99999999999 0\n",
	};

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct habits habits;
		const char *why;
		char rest[256], *text;
		size_t size;
		/* As store_seal() makes it, by way of habits that are right. */
		struct habits right = { .pack = { .kernel = "k" }, .users = { "u" }, .sessions = { 1000 }, .n_users = 1 };

		CHECK(!habits_text(&right, &text, &size) && !habits_read(&habits, text, size, &why));
		habits_free(&habits);
		free(text);
		snprintf(rest, sizeof rest, "kernel k\nuser u 1000\n%s", lines[i]);
		CHECK(!store_seal(HABITS_MAGIC, rest, strlen(rest), &text, &size));
		CHECK(habits_read(&habits, text, size, &why));
		habits_free(&habits);
		free(text);
	}
}

int main(void)
{
	test_sessions();
	test_users();
	test_bounds();
	test_many();
	test_room();
	test_twice();
	test_forgotten();
	test_text();
	test_hostile();
	return EXIT_SUCCESS;
}
