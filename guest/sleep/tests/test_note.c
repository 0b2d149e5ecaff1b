/* SPDX-License-Identifier: MIT */
/* Tests the note beside an image: its own machine, another kernel, a changed disk, and each of its bits turned. */
#include "sleep/note.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"

/* Whether the disk's driver is there. */
static bool driven = true;
static char disk[STAMP_SIZE], note[NOTE_SIZE], reason[REFUSAL_MAX];

static int read_disk(const char *device, char *ret)
{
	if (!driven || strcmp(device, "/dev/vda"))
		return -ENOENT;
	memcpy(ret, disk, STAMP_SIZE);
	return 0;
}

static int check(const char *kernel)
{
	return note_check(note, kernel, read_disk, reason);
}

static void write_one(size_t n)
{
	struct stamps stamps = { .n = n };

	for (size_t i = 0; i < n; i++) {
		strcpy(stamps.all[i].source, "/dev/vda");
		stamps.all[i].bytes = disk;
	}
	CHECK(!note_write("6.1 #1", &stamps, note));
}

static void test_own_and_others(void)
{
	write_one(1);
	CHECK(!check("6.1 #1"));
	CHECK(check("6.1 #2") && !strcmp(reason, "it is of another kernel: 6.1 #1"));
	CHECK(check("6.1") && check("6.1 #11"));
	disk[1072] ^= 1;
	CHECK(check("6.1 #1") && strstr(reason, "/dev/vda"));
	disk[1072] ^= 1;
	driven = false;
	CHECK(check("6.1 #1") == -ENOENT && strstr(reason, "/dev/vda"));
	CHECK(check("6.1 #2") == -1);
	driven = true;
	write_one(0);
	CHECK(!check("6.1 #1"));
	note_take(note);
	CHECK(check("6.1 #1") == -1 && !strcmp(reason, "it was taken before"));
}

static void test_every_bit(void)
{
	write_one(2);
	for (size_t i = 0; i < 8 * strlen(note); i++) {
		note[i / 8] ^= (char)(1 << i % 8);
		/* The digits of the CRC may be in capitals. */
		if (!check("6.1 #1"))
			CHECK(i / 8 > strlen(note) - sizeof "01234567\n");
		note[i / 8] ^= (char)(1 << i % 8);
	}
	memset(note, 0, sizeof note);
	CHECK(check("6.1 #1") && strstr(reason, "missing"));
	memset(note, 'a', sizeof note);
	CHECK(check("6.1 #1"));
}

static void test_room(void)
{
	static char first[NOTE_SIZE];
	const uint32_t last = 99, end = UINT32_MAX;

	/* A file system, or nothing at all: a note would be written over what is there. */
	CHECK(note_find_room(first, 100 * NOTE_SIZE) == -EINVAL);
	memcpy(first + NOTE_SIZE - 10, "SWAPSPACE2", 10);
	memcpy(first + 1028, &last, sizeof last);
	CHECK(!note_find_room(first, 100 * NOTE_SIZE));
	/* As mkswap makes one of a whole device. */
	CHECK(note_find_room(first, 98 * NOTE_SIZE) == -ENOSPC);
	memcpy(first + 1028, &end, sizeof end);
	CHECK(note_find_room(first, 100 * NOTE_SIZE) == -ENOSPC);
	memcpy(first + NOTE_SIZE - 10, "S1SUSPEND\0", 10);
	CHECK(note_find_room(first, 100 * NOTE_SIZE) == -EINVAL);
}

int main(void)
{
	test_room();
	test_own_and_others();
	test_every_bit();
	return 0;
}
