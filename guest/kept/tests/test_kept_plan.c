/* SPDX-License-Identifier: MIT */
/* Tests how a plan is read: whole, cut off anywhere, and with sizes that do not fit into their region. */
#include "kept/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

#define HASH "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static const char FORM[] = "bootlab-kept 1\nregion 67108864 %u\nimage %u\nbytes %u\ncopied_from %u\nfilesystem erofs\nverify %s\ndax %u\nchanges %u\nstore %s\nroot " HASH "\nsalt 00ff\n";

static int read_dax(unsigned dax, const char *verify, struct plan *ret)
{
	char text[PLAN_SIZE];

	snprintf(text, sizeof text, FORM, 2 << 20, 8192, 12288, 0, verify, dax, 0, "-");
	return plan_read(text, ret);
}

static int read_changes(unsigned bytes, const char *store, struct plan *ret)
{
	char text[PLAN_SIZE];

	snprintf(text, sizeof text, FORM, 2 << 20, 8192, 12288, 0, "all", 0, bytes, store);
	return plan_read(text, ret);
}

static int read_at(unsigned size, unsigned image, unsigned bytes, unsigned from, const char *verify, struct plan *ret)
{
	char text[PLAN_SIZE];

	snprintf(text, sizeof text, FORM, size, image, bytes, from, verify, 0, 0, "-");
	return plan_read(text, ret);
}

static int read_one(unsigned size, unsigned image, unsigned bytes, const char *verify, struct plan *ret)
{
	return read_at(size, image, bytes, 0, verify, ret);
}

static void test_cut_off(void)
{
	char text[PLAN_SIZE];
	struct plan plan;
	int size = snprintf(text, sizeof text, FORM, 2 << 20, 8192, 12288, 1 << 20, "all", 0, 4096, "/dev/vdb");

	CHECK(!plan_read(text, &plan));
	while (size--) {
		text[size] = '\0';
		CHECK(plan_read(text, &plan) == -EBADMSG);
	}
}

int main(void)
{
	struct plan plan;

	CHECK(!read_one(2 << 20, 8192, 12288, "verity", &plan) && plan.verify == VERIFY_BLOCKS);
	CHECK(plan.start == 64 << 20 && plan.size == 2 << 20 && plan.image == 8192 && plan.bytes == 12288);
	CHECK(!strcmp(plan.filesystem, "erofs") && !strcmp(plan.root, HASH) && !strcmp(plan.salt, "00ff"));
	CHECK(!read_one(2 << 20, 8192, 12288, "header", &plan) && plan.verify == VERIFY_HEADER);
	CHECK(read_one(2 << 20, 8192, 12288, "none", &plan) == -EBADMSG);
	CHECK(read_one(2 << 20, 8191, 12288, "all", &plan) == -EBADMSG);
	CHECK(read_one(2 << 20, 8192, 8192, "all", &plan) == -EBADMSG);
	/* The header's block is taken. */
	CHECK(!read_one(16384, 8192, 12288, "all", &plan));
	CHECK(read_one(12288, 8192, 12288, "all", &plan) == -EBADMSG);
	CHECK(read_one(0, 0, 0, "all", &plan) == -EBADMSG);
	/* Some of the files, behind the whole root on the disk. */
	CHECK(!read_at(2 << 20, 8192, 12288, 1 << 20, "verity", &plan) && plan.copied_from == 1 << 20);
	CHECK(read_at(2 << 20, 8192, 12288, 4095, "verity", &plan) == -EBADMSG);
	/* What is mapped is not compared as it is read. */
	CHECK(!read_dax(1, "all", &plan) && plan.dax && !read_dax(0, "all", &plan) && !plan.dax);
	CHECK(read_dax(1, "verity", &plan) == -EBADMSG && read_dax(2, "all", &plan) == -EBADMSG);
	/* What is written over the root has a disk to go to. */
	CHECK(!read_changes(4096, "/dev/vdb", &plan) && plan.changes == 4096 && !strcmp(plan.store, "/dev/vdb"));
	CHECK(read_changes(4096, "-", &plan) == -EBADMSG && !read_changes(0, "-", &plan));
	test_cut_off();
	return 0;
}
