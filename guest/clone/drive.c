/* SPDX-License-Identifier: MIT */
/*
 * Reads who this guest is from a drive. A clone's VMM has another file behind the same drive, and a drive is what every microVM
 * has: no network, no firmware, no ACPI.
 */
#include "drive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "identity.h"
#include "shared/text.h"

#define BEGINS "bootlab-clone "

/* O_DIRECT wants memory that begins where a block would. */
static char block[IDENTITY_SIZE] __attribute__((aligned(4096)));

int drive_line_read(const char *line, unsigned *major, unsigned *minor, char ret[DRIVE_NAME])
{
	/*  254        0          1 vda */
	struct slice rest = { line, strcspn(line, "\n") }, word;
	int64_t numbers[3];

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (!word_next(&rest, &word) || parse_number(word, 0, INT32_MAX, &numbers[i]))
			return -ENOENT;
	if (!word_next(&rest, &word) || word.size >= DRIVE_NAME || numbers[2] != IDENTITY_SIZE / 1024)
		return -ENOENT;
	memcpy(ret, word.at, word.size);
	ret[word.size] = '\0';
	*major = (unsigned)numbers[0];
	*minor = (unsigned)numbers[1];
	return 0;
}

int drive_read(int fd, char *ret, size_t size)
{
	ssize_t got = pread(fd, block, sizeof block, 0);

	if (got < 0)
		return -errno;
	if ((size_t)got != sizeof block || size != sizeof block)
		return -EIO;
	memcpy(ret, block, size);
	return 0;
}

static int open_device(unsigned major, unsigned minor, const char *name)
{
	char path[sizeof "/dev/" + DRIVE_NAME], text[IDENTITY_SIZE];
	int fd;

	snprintf(path, sizeof path, "/dev/%s", name);
	fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	/* Without devtmpfs nobody made it; the device is there all the same. */
	if (fd < 0 && errno == ENOENT && !mknod(path, S_IFBLK | 0400, makedev(major, minor)))
		fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!drive_read(fd, text, sizeof text) && !memcmp(text, BEGINS, strlen(BEGINS)))
		return fd;
	close(fd);
	return -ENOENT;
}

int drive_open(void)
{
	FILE *file = fopen("/proc/partitions", "re");
	char line[256], name[DRIVE_NAME];
	unsigned major, minor;
	int fd = -ENOENT;

	if (!file)
		return -ENOENT;
	while (fd < 0 && fgets(line, sizeof line, file))
		if (!drive_line_read(line, &major, &minor, name))
			fd = open_device(major, minor, name);
	fclose(file);
	return fd < 0 ? -ENOENT : fd;
}
