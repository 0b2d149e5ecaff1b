/* SPDX-License-Identifier: MIT */
/* Tests which lines of /proc/partitions are of a drive that may say who a guest is, and how its text is read. */
#include "clone/drive.h"
#include "clone/identity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

#define SIXTEEN "0123456789abcdef"

static void test_lines(void)
{
	static const char *const others[] = {
		"major minor  #blocks  name\n", "\n", " 254        0      16384 vda\n", " 254        0          1\n", "", "254 0 1 " SIXTEEN SIXTEEN SIXTEEN SIXTEEN,
	};
	unsigned major = 0, minor = 0;
	char name[DRIVE_NAME];

	CHECK(!drive_line_read(" 254       16          1 vdb\n", &major, &minor, name));
	CHECK(major == 254 && minor == 16 && !strcmp(name, "vdb"));
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		CHECK(drive_line_read(others[i], &major, &minor, name) == -ENOENT);
}

static void test_text(void)
{
	char path[] = "/tmp/bootlab-drive-XXXXXX", text[IDENTITY_SIZE], wanted[IDENTITY_SIZE];
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	memset(wanted, '\n', sizeof wanted);
	memcpy(wanted, "bootlab-clone 1\nend\n", 20);
	CHECK(write(fd, wanted, sizeof wanted) == sizeof wanted);
	CHECK(!drive_read(fd, text, sizeof text) && !memcmp(text, wanted, sizeof text));
	CHECK(!ftruncate(fd, 512));
	CHECK(drive_read(fd, text, sizeof text) == -EIO);
	close(fd);
	unlink(path);
	CHECK(drive_read(fd, text, sizeof text) == -EBADF);
}

int main(void)
{
	test_lines();
	test_text();
	return 0;
}
