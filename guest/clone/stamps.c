/* SPDX-License-Identifier: MIT */
/* Remembers what the devices of all mounted file systems begin with, and compares that with what they begin with now. */
#include "stamps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "shared/text.h"

#define DEVICES "/dev/"

enum { LINE_SIZE = 1024, MINOR_MAX = (1 << 20) - 1 };

static bool copy_word(const char *word, size_t size, char ret[STAMP_PATH])
{
	if (size >= STAMP_PATH)
		return false;
	memcpy(ret, word, size);
	ret[size] = '\0';
	return true;
}

bool mount_line_read(const char *line, char source[STAMP_PATH], char mounted_at[STAMP_PATH])
{
	/* 36 35 254:0 / /mnt rw,noatime shared:1 - ext4 /dev/vda rw */
	const char *word = line, *rest = strstr(line, " - ");

	for (int i = 0; word && i < 4; i++) {
		word = strchr(word, ' ');
		word = word ? word + 1 : NULL;
	}
	if (!word || !rest || !copy_word(word, strcspn(word, " "), mounted_at))
		return false;
	rest = strchr(rest + 3, ' ');
	return rest && rest[1] == '/' && copy_word(rest + 1, strcspn(rest + 1, " \n"), source);
}

bool mount_line_has_device(const char *line)
{
	const char *rest = strstr(line, " - ");

	rest = rest ? strchr(rest + 3, ' ') : NULL;
	return rest && rest[1] == '/';
}

/* "254:0" */
static bool read_device(struct slice text, dev_t *ret)
{
	const char *colon = memchr(text.at, ':', text.size);
	int64_t number[2];

	if (!colon || parse_number((struct slice){ text.at, (size_t)(colon - text.at) }, 0, INT32_MAX, &number[0]) ||
	    parse_number((struct slice){ colon + 1, text.size - (size_t)(colon + 1 - text.at) }, 0, MINOR_MAX, &number[1]))
		return false;
	*ret = makedev((unsigned)number[0], (unsigned)number[1]);
	return true;
}

bool mount_line_device(const char *line, dev_t *ret)
{
	struct slice rest = slice_of(line), word = { line, 0 };

	for (int i = 0; i < 3; i++)
		if (!word_next(&rest, &word))
			return false;
	return read_device(word, ret);
}

bool partition_line_read(const char *line, dev_t device, char ret[STAMP_PATH])
{
	/*  254        0      65536 vda */
	struct slice rest = { line, strcspn(line, "\n") }, word;
	int64_t numbers[2];

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (!word_next(&rest, &word) || parse_number(word, 0, INT32_MAX, &numbers[i]))
			return false;
	if (numbers[0] != major(device) || numbers[1] != minor(device) || !word_next(&rest, &word) || !word_next(&rest, &word) ||
	    word.size + sizeof DEVICES > STAMP_PATH)
		return false;
	memcpy(ret, DEVICES, sizeof DEVICES - 1);
	memcpy(ret + sizeof DEVICES - 1, word.at, word.size);
	ret[sizeof DEVICES - 1 + word.size] = '\0';
	/* A name with a slash in it has this one here. */
	for (char *at = ret; (at = strchr(at, '!'));)
		*at = '/';
	return true;
}

static bool find_name(dev_t device, char ret[STAMP_PATH])
{
	FILE *file = fopen("/proc/partitions", "re");
	char line[LINE_SIZE];
	bool found = false;

	while (file && !found && fgets(line, sizeof line, file))
		found = partition_line_read(line, device, ret);
	if (file)
		fclose(file);
	return found;
}

/* `device`: with a major number of 0 the file system does not tell which one it is (btrfs), or is on none. */
static bool is_device(const char *path, dev_t device)
{
	struct stat status;

	return !stat(path, &status) && S_ISBLK(status.st_mode) && (!major(device) || status.st_rdev == device);
}

static bool read_stamp(int fd, char *ret)
{
	return pread(fd, ret, STAMP_SIZE, 0) == STAMP_SIZE;
}

static bool is_known(const struct stamps *stamps, const char *source)
{
	for (size_t i = 0; i < stamps->n; i++)
		if (!strcmp(stamps->all[i].source, source))
			return true;
	return false;
}

static void add(struct stamps *stamps, char source[STAMP_PATH], const char *mounted_at, dev_t device)
{
	struct stamp stamp = { .fd = -1 };

	/* A root that the kernel has mounted itself is "/dev/root" to it, and there is no such file. */
	if (!is_device(source, device)) {
		if (!major(device))
			return;
		if (!find_name(device, source) || !is_device(source, device)) {
			stamps->left_out++;
			return;
		}
	}
	if (is_known(stamps, source))
		return;
	if (stamps->n < STAMPS_MAX && !posix_memalign((void **)&stamp.bytes, STAMP_SIZE, STAMP_SIZE)) {
		stamp.fd = open(source, O_RDONLY | O_DIRECT | O_CLOEXEC);
		if (stamp.fd >= 0 && read_stamp(stamp.fd, stamp.bytes)) {
			copy_word(source, strlen(source), stamp.source);
			copy_word(mounted_at, strlen(mounted_at), stamp.mounted_at);
			stamps->all[stamps->n++] = stamp;
			return;
		}
		if (stamp.fd >= 0)
			close(stamp.fd);
		free(stamp.bytes);
	}
	stamps->left_out++;
}

void stamps_take(struct stamps *ret)
{
	char line[LINE_SIZE], source[STAMP_PATH], mounted_at[STAMP_PATH];
	FILE *file = fopen("/proc/self/mountinfo", "re");
	struct stat status;
	dev_t device;

	memset(ret, 0, sizeof *ret);
	if (!file) {
		/* Nobody tells which device that is; the root at least may be on one. */
		ret->left_out = !stat("/", &status) && major(status.st_dev);
		return;
	}
	while (fgets(line, sizeof line, file))
		if (mount_line_read(line, source, mounted_at) && mount_line_device(line, &device))
			add(ret, source, mounted_at, device);
		else if (mount_line_has_device(line))
			ret->left_out++; /* a name that there is no room for */
	fclose(file);
}

const struct stamp *stamps_find_changed(const struct stamps *stamps)
{
	static char now[STAMP_SIZE] __attribute__((aligned(STAMP_SIZE)));

	for (size_t i = 0; i < stamps->n; i++)
		if (!read_stamp(stamps->all[i].fd, now) || memcmp(now, stamps->all[i].bytes, STAMP_SIZE))
			return &stamps->all[i];
	return NULL;
}
