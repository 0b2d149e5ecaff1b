/* SPDX-License-Identifier: MIT */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_NAMES_OF_FOLDER = 1024, FOLDER_BYTES = 32768 };

/* As getdents64(2) fills it; musl keeps its own to itself. */
struct folder_entry {
	uint64_t inode;
	int64_t offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

ssize_t file_read(const char *path, char *ret, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	size_t done = 0;
	ssize_t r = 0;

	if (fd < 0)
		return -errno;
	while (done < size && (r = read(fd, ret + done, size - done)) > 0)
		done += (size_t)r;
	r = r < 0 ? -errno : (ssize_t)done;
	close(fd);
	return r;
}

int file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), r = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		r = -errno;
	close(fd);
	return r;
}

bool file_exists(const char *path)
{
	return faccessat(AT_FDCWD, path, F_OK, 0) == 0;
}

static void sort(const char **names, size_t n)
{
	/* Folders are small and often sorted already. */
	for (size_t i = 1; i < n; i++) {
		const char *name = names[i];
		size_t j = i;

		for (; j > 0 && strcmp(names[j - 1], name) > 0; j--)
			names[j] = names[j - 1];
		names[j] = name;
	}
}

int folder_list(const char *path, struct arena *arena, struct listing *ret)
{
	static char buffer[FOLDER_BYTES] __attribute__((aligned(8)));
	static const char *names[MAX_NAMES_OF_FOLDER];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	size_t n = 0;
	long got;

	if (fd < 0)
		return -errno;
	while ((got = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
		for (long at = 0; at < got;) {
			const struct folder_entry *entry = (const struct folder_entry *)(buffer + at);

			at += entry->size;
			if (!strcmp(entry->name, ".") || !strcmp(entry->name, "..") || n == MAX_NAMES_OF_FOLDER)
				continue;
			names[n] = arena_text(arena, entry->name, strlen(entry->name));
			if (names[n])
				n++;
		}
	got = got < 0 ? -errno : 0;
	close(fd);
	if (got)
		return (int)got;
	sort(names, n);
	ret->names = arena_take(arena, (n + 1) * sizeof *names);
	ret->n = ret->names ? n : 0;
	if (ret->names)
		memcpy(ret->names, names, n * sizeof *names);
	return 0;
}
