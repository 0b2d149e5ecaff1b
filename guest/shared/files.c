/* SPDX-License-Identifier: MIT */
/* Reads and writes small files, and lists folders, without a heap. */
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "large.h"

/* Pages of the table that nothing touches are not there. */
enum { MAX_NAMES_OF_FOLDER = 1 << 17, FOLDER_BYTES = 32768 };

/* As getdents64(2) fills it; musl keeps its own to itself. */
struct folder_entry {
	uint64_t inode;
	int64_t offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

ssize_t file_read_at(int folder, const char *path, char *ret, size_t size)
{
	int fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
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

int file_write_at(int folder, const char *path, const char *text)
{
	int fd = openat(folder, path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), r = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		r = -errno;
	close(fd);
	return r;
}

ssize_t file_read(const char *path, char *ret, size_t size)
{
	return file_read_at(AT_FDCWD, path, ret, size);
}

int file_write(const char *path, const char *text)
{
	return file_write_at(AT_FDCWD, path, text);
}

bool file_exists(const char *path)
{
	return faccessat(AT_FDCWD, path, F_OK, 0) == 0;
}

/* Down to where it belongs, below `place` of a heap whose first is the last by name. */
static void sift(const char **names, size_t n, size_t place)
{
	const char *name = names[place];
	size_t child;

	for (; (child = 2 * place + 1) < n; place = child) {
		child += child + 1 < n && strcmp(names[child + 1], names[child]) > 0;
		if (strcmp(names[child], name) <= 0)
			break;
		names[place] = names[child];
	}
	names[place] = name;
}

void names_sort(const char **names, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		sift(names, n, i);
	while (n-- > 1) {
		const char *last = names[0];

		names[0] = names[n];
		names[n] = last;
		sift(names, n, 0);
	}
}

int folder_list(const char *path, struct arena *arena, struct listing *ret)
{
	LARGE static char buffer[FOLDER_BYTES] __attribute__((aligned(8)));
	LARGE static const char *names[MAX_NAMES_OF_FOLDER];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	size_t n = 0;
	long got;

	*ret = (struct listing){ .n = 0 };
	if (fd < 0)
		return -errno;
	while ((got = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
		for (long at = 0; at < got;) {
			const struct folder_entry *entry = (const struct folder_entry *)(buffer + at);

			const char *name;

			at += entry->size;
			if (!strcmp(entry->name, ".") || !strcmp(entry->name, ".."))
				continue;
			name = n < MAX_NAMES_OF_FOLDER ? arena_text(arena, entry->name, strlen(entry->name)) : NULL;
			ret->may_have_links |= entry->type == DT_LNK || entry->type == DT_UNKNOWN;
			if (name)
				names[n++] = name;
			else
				ret->left_out++;
		}
	got = got < 0 ? -errno : 0;
	close(fd);
	if (got)
		return (int)got;
	names_sort(names, n);
	ret->names = arena_take(arena, (n + 1) * sizeof *names);
	ret->n = ret->names ? n : 0;
	ret->left_out += n - ret->n;
	if (ret->names)
		memcpy(ret->names, names, n * sizeof *names);
	return 0;
}
