/* SPDX-License-Identifier: MIT */
/* Makes, lists, watches and removes the cgroups of units. */
#include "cgroups.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cgroup_limits.h"
#include "loop.h"
#include "shared/files.h"
#include "state/runs.h"

enum { CGROUP2_MAGIC = 0x63677270, BASE_BYTES = 512, PIDS_BYTES = 1 << 16, EVENTS_BYTES = 256, ROUNDS = 8, MAX_PID = 4194304 };

static char base[BASE_BYTES]; /* empty: none has been found */
static bool there[MAX_UNITS], limited[MAX_UNITS];
static int watched[MAX_UNITS]; /* inotify's number, 0: not watched */
static int inotify_fd = -1;
static cgroups_empty_fn *on_empty;

static bool is_cgroup2(const char *path)
{
	struct statfs found;

	return statfs(path, &found) == 0 && found.f_type == CGROUP2_MAGIC;
}

/* Below the group that PID 1 is in itself, which in a container is the one that it may write to. */
static void find_base(void)
{
	static const char *const FOLDERS[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	static char text[PIDS_BYTES];
	ssize_t size = file_read("/proc/self/cgroup", text, sizeof text);
	struct lines lines = lines_of(text, size > 0 ? (size_t)size : 0);
	struct slice line, own = { "/", 1 };

	while (line_next(&lines, &line))
		if (slice_starts(line, "0::"))
			own = slice_from(line, 3);
	for (size_t i = 0; i < sizeof FOLDERS / sizeof FOLDERS[0]; i++) {
		if (!is_cgroup2(FOLDERS[i]))
			continue;
		if (snprintf(base, sizeof base, "%s%.*s", FOLDERS[i], (int)own.size, own.at) >= (int)sizeof base || !is_cgroup2(base))
			snprintf(base, sizeof base, "%s", FOLDERS[i]);
		if (strlen(base) + sizeof "/bootlab" >= sizeof base)
			base[0] = '\0';
		else
			strcat(base, "/bootlab");
		if (mkdir(base, 0755) == 0 || errno == EEXIST)
			return;
		base[0] = '\0';
	}
}

static const char *path_of(unit_id id, const char *file)
{
	static char path[BASE_BYTES + UNIT_NAME_MAX + 64];

	snprintf(path, sizeof path, "%s/%s.unit%s", base, runs_units()->unit[id].name, file);
	return path;
}

int cgroups_open(unit_id id)
{
	/* It may be mounted only now. */
	if (!*base)
		find_base();
	if (*base && !there[id])
		there[id] = mkdir(path_of(id, ""), 0755) == 0 || errno == EEXIST;
	/* Once for each group, which goes when the unit is down; where there is none, once. */
	if (!limited[id] && cgroup_limits_wanted(&runs_units()->unit[id])) {
		limited[id] = true;
		cgroup_limits_write(&runs_units()->unit[id], there[id] ? base : NULL, path_of(id, ""));
	}
	if (!there[id])
		return -1;
	return open(path_of(id, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void cgroups_enter(unit_id id)
{
	if (there[id])
		file_write(path_of(id, "/cgroup.procs"), "0");
}

bool cgroups_is_there(unit_id id)
{
	return there[id];
}

bool cgroups_is_populated(unit_id id)
{
	char text[EVENTS_BYTES];
	ssize_t size = there[id] ? file_read(path_of(id, "/cgroup.events"), text, sizeof text) : -ENOENT;

	return size > 0 && memmem(text, (size_t)size, "populated 1", strlen("populated 1"));
}

/* Those that are in it, for as many as there is room for; `fn` says whether to go on. */
static void for_each(unit_id id, bool (*fn)(pid_t pid, long argument), long argument)
{
	static char text[PIDS_BYTES];
	ssize_t size = there[id] ? file_read(path_of(id, "/cgroup.procs"), text, sizeof text) : -ENOENT;
	struct lines lines = lines_of(text, size > 0 ? (size_t)size : 0);
	struct slice line;
	int64_t pid;

	while (line_next(&lines, &line))
		/* The last one may be cut short. */
		if ((lines.at < lines.end || size < PIDS_BYTES) && !parse_number(line, 1, MAX_PID, &pid) && !fn((pid_t)pid, argument))
			return;
}

static bool found;

static bool is_not(pid_t pid, long wanted)
{
	found |= pid == wanted;
	return !found;
}

bool cgroups_has(unit_id id, pid_t pid)
{
	found = false;
	for_each(id, is_not, pid);
	return found;
}

static bool send_to(pid_t pid, long number)
{
	kill(pid, (int)number);
	/* What is stopped could not hear of it. */
	if (number != SIGKILL)
		kill(pid, SIGCONT);
	return true;
}

void cgroups_signal(unit_id id, int number)
{
	if (!there[id])
		return;
	/* Linux 5.14: all of them at one stroke. Before, what forks meanwhile is met in another round. */
	if (number == SIGKILL && file_write(path_of(id, "/cgroup.kill"), "1") == 0)
		return;
	for (int i = 0; i < (number == SIGKILL ? ROUNDS : 1); i++)
		for_each(id, send_to, number);
}

void cgroups_remove(unit_id id)
{
	if (there[id] && inotify_fd >= 0 && watched[id] > 0)
		inotify_rm_watch(inotify_fd, watched[id]);
	watched[id] = 0;
	if (there[id] && rmdir(path_of(id, "")) == 0)
		there[id] = limited[id] = false;
}

static void look(unit_id id)
{
	if (watched[id] == 0 || cgroups_is_populated(id))
		return;
	inotify_rm_watch(inotify_fd, watched[id]);
	watched[id] = 0;
	on_empty(id);
}

static void events_readable(int fd, unsigned argument)
{
	static char bytes[4096] __attribute__((aligned(8)));
	ssize_t size = read(fd, bytes, sizeof bytes);
	size_t n = runs_units()->n_units;

	(void)argument;
	for (ssize_t at = 0; at < size;) {
		const struct inotify_event *event = (const struct inotify_event *)(bytes + at);

		for (size_t i = 0; i < n; i++)
			if (watched[i] == event->wd && (event->mask & IN_MODIFY))
				look((unit_id)i);
		at += (ssize_t)(sizeof *event + event->len);
	}
}

bool cgroups_watch(unit_id id, cgroups_empty_fn *empty)
{
	on_empty = empty;
	if (!there[id])
		return false;
	if (inotify_fd < 0) {
		inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
		if (inotify_fd >= 0 && loop_watch(inotify_fd, events_readable, 0))
			loop_close(&inotify_fd);
	}
	if (inotify_fd < 0)
		return false;
	watched[id] = inotify_add_watch(inotify_fd, path_of(id, "/cgroup.events"), IN_MODIFY);
	if (watched[id] <= 0) {
		watched[id] = 0;
		return false;
	}
	/* It may have been empty before. */
	look(id);
	return true;
}
