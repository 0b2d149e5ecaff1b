/* SPDX-License-Identifier: MIT */
/* Remembers what the devices of all mounted file systems begin with, and compares that with what they begin with now. */
#include "stamps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_SIZE = 1024 };

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

static void add(struct stamps *stamps, const char *source, const char *mounted_at)
{
	struct stamp stamp = { .fd = -1 };
	struct stat status;

	if (is_known(stamps, source) || stat(source, &status) || !S_ISBLK(status.st_mode))
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

	memset(ret, 0, sizeof *ret);
	if (!file)
		return;
	while (fgets(line, sizeof line, file))
		if (mount_line_read(line, source, mounted_at))
			add(ret, source, mounted_at);
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
