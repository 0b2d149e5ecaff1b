/* SPDX-License-Identifier: MIT */
/* Waits until devices are there: told by inotify, or by looking again where the kernel tells nobody. */
#include "await.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "shared/clock.h"

/* Where the kernel tells nobody of new files: sysfs, and when there is no inotify. */
enum { LOOK_AGAIN_MS = 10 };

/* Watches the deepest folder on the way to `path` that there is: what comes next comes there. */
static bool watch(int fd, const char *path)
{
	char folder[PATH_MAX];

	if (fd < 0 || !strncmp(path, "/sys/", 5) || snprintf(folder, sizeof folder, "%s", path) >= (int)sizeof folder)
		return false;
	for (;;) {
		char *slash = strrchr(folder, '/');

		if (slash == folder)
			return inotify_add_watch(fd, "/", IN_CREATE | IN_MOVED_TO | IN_ONLYDIR) >= 0;
		*slash = '\0';
		if (inotify_add_watch(fd, folder, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR) >= 0)
			return true;
	}
}

static bool is_there(const char *path)
{
	/* A link of udev's is there when what it leads to is. */
	return access(path, F_OK) == 0;
}

static bool await_one(const struct awaited *device, int64_t began_ns)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	bool there;

	for (;;) {
		/* Watched before it is looked at, so that nothing can come in between. */
		bool told = watch(fd, device->path);
		int64_t left_ns = device->timeout_ns ? began_ns + device->timeout_ns - clock_now_ns() : INT64_MAX;
		struct pollfd poll_fd = { .fd = told ? fd : -1, .events = POLLIN };
		struct timespec timeout = { left_ns / 1000000000, left_ns % 1000000000 };
		char events[4096] __attribute__((aligned(8)));

		there = is_there(device->path);
		if (there || left_ns <= 0)
			break;
		if (!told && left_ns > LOOK_AGAIN_MS * 1000000)
			timeout = (struct timespec){ 0, LOOK_AGAIN_MS * 1000000 };
		ppoll(&poll_fd, 1, told && !device->timeout_ns ? NULL : &timeout, NULL);
		while (fd >= 0 && read(fd, events, sizeof events) > 0)
			;
	}
	if (fd >= 0)
		close(fd);
	return there;
}

unsigned await_devices(const struct plan *plan, const char *plan_name)
{
	int64_t began_ns = clock_now_ns();
	unsigned missing = 0;

	for (size_t i = 0; i < plan->n_devices; i++) {
		const struct awaited *device = &plan->devices[i];

		if (await_one(device, began_ns))
			continue;
		fprintf(stderr, "coldplug: %s:%u: %s: not there after %.3f s; the boot goes on without it\n", plan_name,
			device->line, device->path, (double)device->timeout_ns / 1e9);
		missing++;
	}
	return missing;
}
