/* SPDX-License-Identifier: MIT */
/* Tests starts one after another, each with a /dev of its own: what filled the memory for changes is taken again, and is passed. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "kept/changes.h"
#include "kept/store.h"

#define ROOT "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define FOLDER "/mnt"
#define BASE FOLDER "/base"
#define MOUNTED FOLDER "/root"
#define STORE FOLDER "/store"
#define WRITTEN MOUNTED "/written"
#define LAYER "/dev/bootlab-kept-changes"

enum { ROOM_BLOCKS = 16, STORE_BLOCKS = 64, STARTS = 5 };

static struct plan plan = { .changes = ROOM_BLOCKS * BLOCK, .store = STORE, .root = ROOT };

static void half(void)
{
}

static void start(void)
{
	CHECK(!mount("tmpfs", "/dev", "tmpfs", 0, NULL));
	CHECK(!changes_mount(&plan, BASE, MOUNTED));
}

static void end(void)
{
	CHECK(!umount(MOUNTED) && !umount(LAYER) && !umount("/dev"));
}

/* Until there is no room: how many bytes there was room for. */
static off_t fill(void)
{
	static const char block[BLOCK] = "what was written";
	int fd = open(WRITTEN, O_WRONLY | O_CREAT | O_EXCL, 0644);
	off_t size = 0;
	ssize_t n;

	CHECK(fd >= 0);
	while ((n = write(fd, block, sizeof block)) > 0)
		size += n;
	CHECK(n < 0 && errno == ENOSPC && size >= BLOCK);
	close(fd);
	return size;
}

static void expect_passed(void)
{
	struct store store;

	CHECK(!store_open(STORE, &store));
	CHECK(!strcmp(store_trial(&store, 1), "passed"));
	store_close(&store);
}

int main(void)
{
	struct stat status;
	off_t size;
	int fd;

	if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS)) {
		printf("test_kept_layer: skipped: no mount namespace here: %s\n", strerror(errno));
		return 0;
	}
	CHECK(!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	CHECK(!mount("tmpfs", FOLDER, "tmpfs", 0, NULL));
	CHECK(!mkdir(BASE, 0755) && !mkdir(MOUNTED, 0755));
	fd = open(STORE, O_WRONLY | O_CREAT, 0600);
	CHECK(fd >= 0 && !ftruncate(fd, STORE_BLOCKS * BLOCK));
	close(fd);
	start();
	size = fill();
	CHECK(!changes_save(&plan, half));
	end();
	for (int i = 0; i < STARTS; i++) {
		start();
		CHECK(!stat(WRITTEN, &status) && status.st_size == size);
		CHECK(!changes_pass(&plan));
		expect_passed();
		end();
	}
	return 0;
}
