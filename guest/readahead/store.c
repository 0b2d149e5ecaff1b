/* SPDX-License-Identifier: MIT */
/* The first line has the length and the CRC of the rest; a file is written beside the old one and takes its name. */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD_BYTES = 128, LONGEST_PATH = 4095 };

static uint32_t crc32_of(const char *text, size_t size)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < size; i++) {
		crc ^= (unsigned char)text[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

bool store_number(struct slice *rest, int64_t least, int64_t most, int64_t *ret)
{
	struct slice word;

	return word_next(rest, &word) && !parse_number(word, least, most, ret);
}

bool store_open(const char *magic, size_t most, const char *text, size_t size, struct slice *ret, const char **ret_why)
{
	const char *end = memchr(text, '\n', size < 128 ? size : 128);
	struct slice first, word, more;
	int64_t length, crc;

	*ret_why = "is none that this program wrote";
	if (!end || size < strlen(magic) || memcmp(text, magic, strlen(magic)) != 0)
		return false;
	first = (struct slice){ text + strlen(magic), (size_t)(end - text) - strlen(magic) };
	if (!store_number(&first, 0, (int64_t)most, &length) || !word_next(&first, &word) ||
	    parse_number(word, 0, UINT32_MAX, &crc) || word_next(&first, &more))
		return false;
	*ret_why = "is cut short";
	if ((size_t)length > size - (size_t)(end + 1 - text))
		return false;
	*ret = (struct slice){ end + 1, (size_t)length };
	*ret_why = "is damaged";
	return crc32_of(ret->at, ret->size) == (uint32_t)crc;
}

int store_seal(const char *magic, const char *rest, size_t size, char **ret, size_t *ret_size)
{
	FILE *to = open_memstream(ret, ret_size);
	bool failed;

	if (!to)
		return -ENOMEM;
	fprintf(to, "%s%zu %lu\n", magic, size, (unsigned long)crc32_of(rest, size));
	failed = fwrite(rest, 1, size, to) != size;
	if (fclose(to) || failed) {
		free(*ret);
		*ret = NULL;
		return -ENOMEM;
	}
	return 0;
}

char *store_read(const char *name, size_t most, size_t *ret_size)
{
	int file = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat status;
	char *text = NULL;
	ssize_t got = 0;
	int r = 0;

	*ret_size = 0;
	if (file < 0)
		return NULL;
	if (fstat(file, &status)) {
		r = errno;
	} else if (!S_ISREG(status.st_mode)) {
		r = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
	} else if (status.st_size > (off_t)most + HEAD_BYTES) {
		r = EFBIG;
	} else if (!(text = malloc((size_t)status.st_size + 1))) {
		r = ENOMEM;
	} else {
		while (*ret_size < (size_t)status.st_size &&
		       (got = read(file, text + *ret_size, (size_t)status.st_size - *ret_size)) > 0)
			*ret_size += (size_t)got;
		text[*ret_size] = 0;
		if (got < 0) {
			r = errno;
			free(text);
			text = NULL;
		}
	}
	close(file);
	/* Of this file: what an earlier call left there may say that there is none. */
	if (r)
		errno = r;
	return text;
}

/* Each folder on the way to the file. */
static int folders_make(const char *name)
{
	char folder[LONGEST_PATH + 1];

	strcpy(folder, name);
	for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (mkdir(folder, 0755) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

int store_write(const char *name, const char *text, size_t size)
{
	char other[LONGEST_PATH + 8];
	int file, r = 0;

	if (strlen(name) > LONGEST_PATH)
		return -ENAMETOOLONG;
	r = folders_make(name);
	if (r)
		return r;
	snprintf(other, sizeof other, "%s.new", name);
	unlink(other);
	file = open(other, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file < 0)
		return -errno;
	for (size_t at = 0; !r && at < size;) {
		ssize_t put = write(file, text + at, size - at);

		if (put < 0)
			r = -errno;
		else
			at += (size_t)put;
	}
	if (!r && fsync(file))
		r = -errno;
	if (close(file) && !r)
		r = -errno;
	if (!r && rename(other, name))
		r = -errno;
	if (r)
		unlink(other);
	return r;
}
