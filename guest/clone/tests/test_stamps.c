/* SPDX-License-Identifier: MIT */
/* Tests which lines of mountinfo name a device, and that a device which has changed is found. */
#include "clone/stamps.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "check.h"

static void test_lines(void)
{
	static const char whole[] = "36 35 254:0 / /mnt rw,noatime shared:1 - ext4 /dev/vda rw\n";
	static const char *const none[] = {
		"", "36", "36 35 0:5 / /proc rw - proc proc rw\n", "36 35 0:1 / / rw - rootfs none rw\n",
		"36 35 254:0 / /mnt rw ext4 /dev/vda rw\n", "36 35 254:0 / /mnt rw - ext4\n",
	};
	char source[STAMP_PATH], mounted_at[STAMP_PATH], long_line[STAMP_PATH + 64];

	CHECK(mount_line_read(whole, source, mounted_at));
	CHECK(!strcmp(source, "/dev/vda") && !strcmp(mounted_at, "/mnt"));
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		CHECK(!mount_line_read(none[i], source, mounted_at));
	/* What there is no room for is a file system on a device all the same, and is counted. */
	snprintf(long_line, sizeof long_line, "36 35 254:0 / /mnt rw - ext4 /dev/%0*d rw\n", STAMP_PATH, 1);
	CHECK(!mount_line_read(long_line, source, mounted_at) && mount_line_has_device(long_line));
	CHECK(mount_line_has_device(whole) && !mount_line_has_device(none[1]) && !mount_line_has_device(none[2]));
}

/* What the kernel mounts itself it names "/dev/root": the number is what tells which device that is. */
static void test_device_by_number(void)
{
	static const char root[] = "13 1 254:1 / / rw,relatime - ext4 /dev/root rw\n";
	static const char *const none[] = { "", "13", "13 1", "13 1 254 / / rw", "13 1 254: / / rw", "13 1 :1 / / rw", "13 1 a:b / / rw" };
	static const char *const others[] = { "", "major minor  #blocks  name\n", " 254        0      65536 vda\n", " 254        1\n",
					      " 254        1      65535\n" };
	char path[STAMP_PATH], long_line[2 * STAMP_PATH];
	dev_t device;

	CHECK(mount_line_device(root, &device) && device == makedev(254, 1));
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		CHECK(!mount_line_device(none[i], &device));
	CHECK(partition_line_read(" 254        1      65535 vda1\n", device, path) && !strcmp(path, "/dev/vda1"));
	CHECK(partition_line_read(" 254        1      65535 cciss!c0d0p1\n", device, path) && !strcmp(path, "/dev/cciss/c0d0p1"));
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		CHECK(!partition_line_read(others[i], device, path));
	snprintf(long_line, sizeof long_line, " 254 1 65535 %0*d\n", STAMP_PATH - 5, 1);
	CHECK(!partition_line_read(long_line, device, path));
	snprintf(long_line, sizeof long_line, " 254 1 65535 %0*d\n", STAMP_PATH - 6, 1);
	CHECK(partition_line_read(long_line, device, path) && strlen(path) == STAMP_PATH - 1);
}

static void test_changed(void)
{
	static char bytes[STAMP_SIZE];
	char name[] = "/tmp/bootlab-stamp-XXXXXX";
	struct stamps stamps = { .n = 1 };
	int fd = mkstemp(name);

	CHECK(fd >= 0 && write(fd, bytes, sizeof bytes) == sizeof bytes);
	stamps.all[0] = (struct stamp){ .fd = fd, .bytes = bytes };
	CHECK(!stamps_find_changed(&stamps));
	CHECK(pwrite(fd, "x", 1, 1024) == 1);
	CHECK(stamps_find_changed(&stamps) == &stamps.all[0]);
	CHECK(pwrite(fd, "", 1, 1024) == 1 && !stamps_find_changed(&stamps));
	/* A device that cannot be read any more is not the one that it was. */
	CHECK(!ftruncate(fd, 100) && stamps_find_changed(&stamps) == &stamps.all[0]);
	close(fd);
	unlink(name);
}

int main(void)
{
	test_lines();
	test_device_by_number();
	test_changed();
	return 0;
}
