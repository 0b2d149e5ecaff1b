/* SPDX-License-Identifier: MIT */
/* Tests how a root's changes are kept: packed and unpacked alike, cut off anywhere, and a store whose power is cut as it is written. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "kept/archive.h"
#include "kept/plan.h"
#include "kept/store.h"

#define ROOT "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define OTHER "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

enum { ROOM = 1 << 20, STORE_BYTES = 41 * BLOCK, MADE_BYTES = 9 * BLOCK + 5, NAMES = 6000, NAME_LENGTH = 200 };

static char folder[] = "/dev/shm/bootlab-changes-XXXXXX", path[4096];
/* As what is read and written past the page cache has to lie. */
static char room[ROOM] __attribute__((aligned(BLOCK))), again[ROOM] __attribute__((aligned(BLOCK)));
static char before[STORE_BYTES], after[STORE_BYTES], cut[STORE_BYTES];
static int halves;

static const char *at(const char *name)
{
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void write_file(const char *name, const char *bytes, size_t size)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC, 0640);

	CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	close(fd);
}

static void wait_for_a_tick(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 30000000 }, NULL);
}

/*
 * Written to while it is read, or just before: of the same tick of the clock as what might come. That the clock
 * ticks between a write and the read after it is luck, which does not last for so many writes.
 */
static bool is_refused_while_written(const char *name, struct archive *archive)
{
	char late[64];

	snprintf(late, sizeof late, "%s/late", name);
	for (int i = 0; i < 100; i++) {
		write_file(late, "x", 1);
		if (archive_pack(at(name), archive) == -EAGAIN)
			return true;
	}
	return false;
}

static void test_packed_and_unpacked(void)
{
	struct archive one = { room, sizeof room, 0 }, other = { again, sizeof again, 0 };
	struct stat status;
	char name[8];

	mkdir(at("upper"), 0751);
	mkdir(at("upper/a"), 01777);
	write_file("upper/a/file", "what was written", 16);
	write_file("upper/a/none", "", 0);
	CHECK(!symlink("../nowhere", at("upper/a/link")));
	CHECK(!link(at("upper/a/file"), (snprintf(again, sizeof again, "%s/upper/second", folder), again)));
	CHECK(!mkfifo(at("upper/fifo"), 0600));
	/* A file of the root that was removed: anybody may make this device. */
	CHECK(!mknod(at("upper/gone"), S_IFCHR, 0) || errno == EPERM);
	CHECK(!setxattr(at("upper/a"), "user.x", "y", 1, 0) || errno == ENOTSUP);
	CHECK(!utimensat(AT_FDCWD, at("upper/a/file"), (struct timespec[2]){ { 5, 6 }, { 7, 8 } }, 0));
	wait_for_a_tick();
	CHECK(!archive_pack(at("upper"), &one) && one.used);
	mkdir(at("copy"), 0700);
	CHECK(!archive_unpack(&one, at("copy")));
	CHECK(!stat(at("copy"), &status) && (status.st_mode & 07777) == 0751);
	CHECK(!stat(at("copy/a"), &status) && (status.st_mode & 07777) == 01777);
	CHECK(!stat(at("copy/a/file"), &status) && status.st_nlink == 2 && status.st_size == 16 && (status.st_mode & 07777) == 0640);
	CHECK(status.st_mtim.tv_sec == 7 && status.st_mtim.tv_nsec == 8);
	CHECK(readlink(at("copy/a/link"), name, sizeof name) == 8 && !memcmp(name, "../nowhe", 8));
	wait_for_a_tick();
	/* The very same bytes, so that what is saved already is known to be. */
	CHECK(!archive_pack(at("copy"), &other) && other.used == one.used && !memcmp(room, again, one.used));
	CHECK(is_refused_while_written("upper", &other));
	other.size = 64;
	wait_for_a_tick();
	CHECK(archive_pack(at("upper"), &other) == -ENOSPC);
	for (size_t size = one.used - 1; size; size--) {
		other = (struct archive){ room, one.used, size };
		mkdir(at("cut"), 0700);
		/* Only between two files does what is left make sense; the sum refuses that before. */
		(void)archive_unpack(&other, at("cut"));
		snprintf(again, sizeof again, "rm -rf %s/cut", folder);
		if (size % 97 == 0)
			CHECK(!system(again));
	}
}

/* The log of logins has one of some MiB: written out it would not fit where it was read from. */
static void test_a_hole_takes_no_memory(void)
{
	struct archive one = { room, sizeof room, 0 };
	struct stat status;
	char end[6];
	int fd;

	mkdir(at("holes"), 0700);
	write_file("holes/file", "begin", 5);
	CHECK(!truncate(at("holes/file"), 64 * BLOCK + 5));
	fd = open(at("holes/file"), O_RDWR);
	CHECK(fd >= 0 && pwrite(fd, "middle", 6, 31 * BLOCK - 3) == 6 && pwrite(fd, "end", 3, 64 * BLOCK + 2) == 3);
	close(fd);
	wait_for_a_tick();
	CHECK(!archive_pack(at("holes"), &one) && one.used > 64 * BLOCK);
	mkdir(at("again"), 0700);
	CHECK(!archive_unpack(&one, at("again")));
	fd = open(at("again/file"), O_RDONLY);
	CHECK(fd >= 0 && !fstat(fd, &status) && status.st_size == 64 * BLOCK + 5 && status.st_blocks * 512 <= 5 * BLOCK);
	CHECK(pread(fd, end, 5, 0) == 5 && !memcmp(end, "begin", 5));
	CHECK(pread(fd, end, 6, 31 * BLOCK - 3) == 6 && !memcmp(end, "middle", 6));
	CHECK(pread(fd, end, 6, 64 * BLOCK + 1) == 4 && !memcmp(end, "\0end", 4));
	close(fd);
}

static void test_too_many_names_are_no_want_of_room(void)
{
	struct archive one = { room, sizeof room, 0 };
	char name[NAME_LENGTH + 1], below[NAME_LENGTH + 6];

	mkdir(at("many"), 0700);
	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof name, "%0*d", NAME_LENGTH, i);
		snprintf(below, sizeof below, "many/%s", name);
		write_file(below, "", 0);
	}
	wait_for_a_tick();
	CHECK(archive_pack(at("many"), &one) == -E2BIG);
}

static void half(void)
{
	halves++;
}

static void fill(char *bytes, size_t size, unsigned seed)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)((i * 2654435761u + seed * 40503u) >> 11);
}

static void open_with(const char bytes[STORE_BYTES], struct store *ret)
{
	write_file("store", bytes, STORE_BYTES);
	CHECK(!store_open(at("store"), ret));
}

/* The newest that is whole: 0 for none. */
static unsigned long long newest(const char bytes[STORE_BYTES])
{
	unsigned long long found = 0;
	struct store store;

	open_with(bytes, &store);
	for (int i = 0; i < SLOTS; i++)
		if (!store.slots[i].status && store.slots[i].generation > found && !store_load(&store, i, again))
			found = store.slots[i].generation;
	store_close(&store);
	return found;
}

static void read_store(char ret[STORE_BYTES])
{
	int fd = open(at("store"), O_RDONLY);

	CHECK(fd >= 0 && read(fd, ret, STORE_BYTES) == STORE_BYTES);
	close(fd);
}

static void test_two_generations(void)
{
	struct store store;

	memset(before, 0, sizeof before);
	open_with(before, &store);
	CHECK(store.room == 19 * BLOCK && store.slots[0].status == -ENODATA && store.slots[1].status == -ENODATA);
	CHECK(!strcmp(store_trial(&store, 0), "none"));
	fill(room, MADE_BYTES, 1);
	CHECK(!store_save(&store, 0, ROOT, room, MADE_BYTES, half) && halves == 1);
	CHECK(store_save(&store, 1, ROOT, room, 19 * BLOCK + 1, half) == -ENOSPC);
	CHECK(!store_note(&store, 0, "try1"));
	store_close(&store);
	read_store(before);
	open_with(before, &store);
	CHECK(store.slots[0].generation == 1 && store.slots[0].bytes == MADE_BYTES && !strcmp(store.slots[0].root, ROOT));
	CHECK(!strcmp(store_trial(&store, 0), "try1") && !strcmp(store_trial(&store, 1), "none"));
	CHECK(!store_load(&store, 0, again) && !memcmp(room, again, MADE_BYTES));
	fill(room, MADE_BYTES, 2);
	CHECK(!store_save(&store, 1, OTHER, room, MADE_BYTES, half) && store.slots[1].generation == 2);
	CHECK(!strcmp(store_trial(&store, 0), "try1") && !strcmp(store_trial(&store, 1), "none"));
	store_close(&store);
	read_store(after);
	CHECK(newest(before) == 1 && newest(after) == 2);
}

/* Any of the blocks that were written reached the disk, and its header did or did not: a disk that keeps no order. */
static void test_power_cuts(void)
{
	size_t header = 21 * BLOCK;

	srand(1);
	for (int turn = 0; turn < 1000; turn++) {
		bool all = true, has_header = turn % 2;

		memcpy(cut, before, sizeof cut);
		for (size_t block = 0; block < STORE_BYTES; block += BLOCK) {
			bool differs = memcmp(before + block, after + block, BLOCK);
			bool comes = block == header ? has_header : turn % 7 == 0 || rand() % 4;

			if (differs && comes)
				memcpy(cut + block, after + block, BLOCK);
			all &= !differs || comes;
		}
		CHECK(newest(cut) == (all ? 2 : 1));
	}
}

static void test_damage(void)
{
	struct store store;

	for (size_t bit = 0; bit < 8 * 512; bit++) {
		memcpy(cut, after, sizeof cut);
		cut[21 * BLOCK + bit / 8] ^= (char)(1 << bit % 8);
		CHECK(newest(cut) == 1);
		memcpy(cut, before, sizeof cut);
		cut[bit / 8] ^= (char)(1 << bit % 8);
		open_with(cut, &store);
		CHECK(!strcmp(store_trial(&store, 0), "none") && !store.slots[0].status);
		store_close(&store);
	}
	memcpy(cut, after, sizeof cut);
	cut[22 * BLOCK + 77] ^= 1;
	CHECK(newest(cut) == 1);
	write_file("store", cut, 4 * BLOCK);
	CHECK(store_open(at("store"), &store) == -ENOSPC);
}

int main(void)
{
	umask(0);
	/* In memory, where there is such a folder: it is written some thousand times. */
	if (access("/dev/shm", W_OK))
		strcpy(folder, "/tmp/bootlab-changes-XXXXXX");
	CHECK(mkdtemp(folder));
	CHECK(sum_of("123456789", 9) == 0xcbf43926);
	test_packed_and_unpacked();
	test_a_hole_takes_no_memory();
	test_too_many_names_are_no_want_of_room();
	test_two_generations();
	test_power_cuts();
	test_damage();
	snprintf(again, sizeof again, "rm -rf %s", folder);
	return system(again);
}
