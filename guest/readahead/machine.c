/* SPDX-License-Identifier: MIT */
/* What a file system, its packages and a kernel are known by, and where a program says something before anybody listens. */
#include "machine.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

/* On standard error and, since nobody reads that while a system starts, in the kernel's log. */
void say(const char *format, ...)
{
	char line[512];
	va_list words;
	int log, size = snprintf(line, sizeof line, "<6>%s: ", said_by);

	va_start(words, format);
	vsnprintf(line + size, sizeof line - (size_t)size - 1, format, words);
	va_end(words);
	strcat(line, "\n");
	fputs(line + 3, stderr); /* the kernel's log takes the level in front */
	log = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	if (log >= 0) {
		if (write(log, line, strlen(line)) < 0)
			line[0] = 0; /* it was said once at least */
		close(log);
	}
}

int64_t root_identity(int root)
{
	struct statfs status;
	uint64_t id = 0;

	if (!fstatfs(root, &status))
		memcpy(&id, &status.f_fsid, sizeof id);
	return (int64_t)(id & INT64_MAX);
}

int64_t packages_identity(int root)
{
	static const char *const lists[] = { "var/lib/dpkg/status", "var/lib/rpm/rpmdb.sqlite", "usr/lib/sysimage/rpm/rpmdb.sqlite",
					     "lib/apk/db/installed", "var/lib/pacman/local" };
	uint64_t id = 0;

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		struct stat status;

		if (!fstatat(root, lists[i], &status, 0))
			id = id * 1000003 + (uint64_t)status.st_mtime * 31 + (uint64_t)status.st_size;
	}
	return (int64_t)(id & INT64_MAX);
}

void kernel_name(char ret[PACK_NAME])
{
	struct utsname names;

	if (uname(&names))
		strcpy(names.release, "unknown");
	snprintf(ret, PACK_NAME, "%s", names.release);
}
