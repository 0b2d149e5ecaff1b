/* SPDX-License-Identifier: MIT */
/* The kernel's queue holds 16,384 files, and says so when it held more. It is read when all is over: a session's start costs enough. */
#include "opened.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <unistd.h>

/* Each of a file's events is a descriptor: what does not fit into a process' usual 1,024 is gone without a word. */
enum { AT_ONCE = 128, BUFFER_BYTES = AT_ONCE * FAN_EVENT_METADATA_LEN, PATH_BYTES = 4096, QUEUE = 16384 };

int opened_begin(const char *root)
{
	/* O_NONBLOCK of the files, too: a FIFO of which nobody has the other end would never let go. */
	int descriptor = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK,
				       O_RDONLY | O_LARGEFILE | O_NOATIME | O_NONBLOCK | O_CLOEXEC);

	if (descriptor < 0)
		return -errno;
	if (fanotify_mark(descriptor, FAN_MARK_ADD | FAN_MARK_MOUNT, FAN_OPEN, AT_FDCWD, root)) {
		int r = -errno;

		close(descriptor);
		return r;
	}
	return descriptor;
}

/* 0 or -ENOMEM; a file that has no name any more has none here. */
static int add(struct opened *opened, int file, const char *root)
{
	size_t root_size = strlen(root);
	char link[64], path[PATH_BYTES + 1];
	ssize_t size;

	snprintf(link, sizeof link, "/proc/self/fd/%d", file);
	size = readlink(link, path, PATH_BYTES);
	if (size <= 0)
		return 0;
	path[size] = 0;
	if (strncmp(path, root, root_size) != 0)
		return 0;
	if (!(opened->n & (opened->n - 1))) {
		char **paths = reallocarray(opened->paths, opened->n ? 2 * opened->n : 1, sizeof *paths);

		if (!paths)
			return -ENOMEM;
		opened->paths = paths;
	}
	opened->paths[opened->n] = strdup(path + root_size + (path[root_size] == '/'));
	return opened->paths[opened->n] ? (void)opened->n++, 0 : -ENOMEM;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_each_once(struct opened *opened)
{
	size_t kept = opened->n > 0;

	if (opened->n == 0)
		return;
	qsort(opened->paths, opened->n, sizeof *opened->paths, by_name);
	for (size_t i = 1; i < opened->n; i++)
		if (strcmp(opened->paths[i], opened->paths[kept - 1]) != 0)
			opened->paths[kept++] = opened->paths[i];
		else
			free(opened->paths[i]);
	opened->n = kept;
}

int opened_end(int descriptor, const char *root, struct opened *ret)
{
	static char buffer[BUFFER_BYTES] __attribute__((aligned(8)));
	ssize_t got;
	int r = 0;

	*ret = (struct opened){ 0 };
	for (size_t failed = 0; failed < QUEUE;) {
		got = read(descriptor, buffer, sizeof buffer);
		if (got < 0 && errno == EAGAIN)
			break;
		/* What could not be opened is off the queue, and the next may be: a device without a driver is no file to read. */
		if (got <= 0) {
			failed++;
			ret->lost += errno != ENXIO && errno != ENODEV;
			continue;
		}
		struct fanotify_event_metadata *event = (void *)buffer;

		for (; FAN_EVENT_OK(event, got); event = FAN_EVENT_NEXT(event, got)) {
			ret->lost += event->mask & FAN_Q_OVERFLOW ? 1 : 0;
			if (event->fd < 0)
				continue;
			if (!r)
				r = add(ret, event->fd, root);
			close(event->fd);
		}
	}
	close(descriptor);
	sort_each_once(ret);
	return r;
}

void opened_free(struct opened *opened)
{
	for (size_t i = 0; i < opened->n; i++)
		free(opened->paths[i]);
	free(opened->paths);
	*opened = (struct opened){ 0 };
}
