/* SPDX-License-Identifier: MIT */
/* Makes, lists, watches and removes the cgroups of units. */
#include "cgroups.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cgroup_limits.h"
#include "loop.h"
#include "shared/files.h"
#include "shared/large.h"
#include "shared/own.h"
#include "shared/print.h"
#include "state/runs.h"

enum { CGROUP2_MAGIC = 0x63677270, PIDS_BYTES = 1 << 16, EVENTS_BYTES = 256, ROUNDS = 8, MAX_PID = 4194304 };

static int base_fd = -1; /* none has been found */
static bool *there, *limited;
static unit_id *watcher; /* which unit a number is of, by its remainder */
static int *watched; /* inotify's number, 0: not watched */
static int inotify_fd = -1;
static cgroups_empty_fn *on_empty;

static bool is_cgroup2(int fd)
{
	struct statfs found;

	return fd >= 0 && fstatfs(fd, &found) == 0 && found.f_type == CGROUP2_MAGIC;
}

static int open_folder(int at, const char *path)
{
	return openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* The group that PID 1 is in itself, below the mounted one at `top`: in a container that is the one that it may write to. */
static int open_own(int top)
{
	LARGE static char text[PIDS_BYTES], path[PATH_MAX];
	ssize_t size = file_read("/proc/self/cgroup", text, sizeof text);
	struct lines lines = lines_of(text, size > 0 ? (size_t)size : 0);
	struct slice line, own = { "/", 1 };
	int fd;

	while (line_next(&lines, &line))
		if (slice_starts(line, "0::"))
			own = slice_from(line, 3);
	if (print(path, sizeof path, ".%.*s", (int)own.size, own.at) >= (int)sizeof path)
		return -1;
	fd = open_folder(top, path);
	if (is_cgroup2(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The folder of all units' groups, which stays open: every path begins there. False when there is none, or not yet. */
static bool find_base(void)
{
	static const char *const FOLDERS[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	int top = -1, own;

	if (base_fd >= 0)
		return true;
	for (size_t i = 0; i < sizeof FOLDERS / sizeof FOLDERS[0] && top < 0; i++) {
		top = open_folder(AT_FDCWD, FOLDERS[i]);
		/* Not there at all: nor is what would be in it. */
		if (top < 0)
			return false;
		if (!is_cgroup2(top))
			loop_close(&top);
	}
	if (top < 0)
		return false;
	own = open_own(top);
	for (int i = 0; i < 2 && base_fd < 0; i++) {
		int at = i ? top : own;

		if (at >= 0 && (mkdirat(at, "bootlab", 0755) == 0 || errno == EEXIST))
			base_fd = open_folder(at, "bootlab");
	}
	loop_close(&own);
	loop_close(&top);
	return base_fd >= 0;
}

/* Below the folder of all. */
static const char *path_of(unit_id id, const char *file)
{
	static char path[UNIT_NAME_MAX + 64];
	size_t size = strlen(runs_units()->unit[id].name);

	memcpy(path, runs_units()->unit[id].name, size);
	strcpy(path + size, ".unit");
	strcpy(path + size + strlen(".unit"), file);
	return path;
}

int cgroups_open(unit_id id)
{
	const struct unit *unit = &runs_units()->unit[id];

	OWN_TABLE(there, MAX_UNITS);
	OWN_TABLE(limited, MAX_UNITS);
	OWN_TABLE(watched, MAX_UNITS);
	OWN_TABLE(watcher, MAX_UNITS);
	/* It may be mounted only now. */
	if (!there[id] && find_base())
		there[id] = mkdirat(base_fd, path_of(id, ""), 0755) == 0 || errno == EEXIST;
	/* Once for each group, which goes when the unit is down; where there is none, once. */
	if (!limited[id] && cgroup_limits_wanted(unit)) {
		limited[id] = true;
		cgroup_limits_write(unit, there[id] ? base_fd : -1, path_of(id, ""));
	}
	return there[id] ? open_folder(base_fd, path_of(id, "")) : -1;
}

void cgroups_enter(int group)
{
	if (group >= 0)
		file_write_at(group, "cgroup.procs", "0");
}

bool cgroups_is_there(unit_id id)
{
	return there && there[id];
}

bool cgroups_is_populated(unit_id id)
{
	char text[EVENTS_BYTES];
	ssize_t size = cgroups_is_there(id) ? file_read_at(base_fd, path_of(id, "/cgroup.events"), text, sizeof text) : -ENOENT;

	return size > 0 && memmem(text, (size_t)size, "populated 1", strlen("populated 1"));
}

/* Those that are in it, for as many as there is room for; `fn` says whether to go on. False where they cannot be read. */
static bool for_each(unit_id id, bool (*fn)(pid_t pid, long argument), long argument)
{
	LARGE static char text[PIDS_BYTES];
	ssize_t size = cgroups_is_there(id) ? file_read_at(base_fd, path_of(id, "/cgroup.procs"), text, sizeof text) : -ENOENT;
	struct lines lines = lines_of(text, size > 0 ? (size_t)size : 0);
	struct slice line;
	int64_t pid;

	while (line_next(&lines, &line))
		/* The last one may be cut short. */
		if ((lines.at < lines.end || size < PIDS_BYTES) && !parse_number(line, 1, MAX_PID, &pid) && !fn((pid_t)pid, argument))
			break;
	return size >= 0;
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

bool cgroups_signal(unit_id id, int number)
{
	bool met = false;

	if (!cgroups_is_there(id))
		return false;
	/* Linux 5.14: all of them at one stroke. Before, what forks meanwhile is met in another round. */
	if (number == SIGKILL && file_write_at(base_fd, path_of(id, "/cgroup.kill"), "1") == 0)
		return true;
	for (int i = 0; i < (number == SIGKILL ? ROUNDS : 1); i++)
		met |= for_each(id, send_to, number);
	return met;
}

void cgroups_remove(unit_id id)
{
	if (!cgroups_is_there(id))
		return;
	if (watched[id] > 0)
		inotify_rm_watch(inotify_fd, watched[id]);
	watched[id] = 0;
	if (unlinkat(base_fd, path_of(id, ""), AT_REMOVEDIR) == 0)
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

static unit_id find_watched(int number)
{
	size_t n = runs_units()->n_units;
	unit_id id = number > 0 ? watcher[number % MAX_UNITS] : NO_UNIT;

	if (id == NO_UNIT || watched[id] == number)
		return id;
	/* Numbers grow: another one, MAX_UNITS away, has its place. */
	for (size_t i = 0; i < n; i++)
		if (watched[i] == number)
			return (unit_id)i;
	return NO_UNIT;
}

static void events_readable(int fd, unsigned argument)
{
	LARGE static char bytes[4096] __attribute__((aligned(8)));
	ssize_t size = read(fd, bytes, sizeof bytes);

	(void)argument;
	for (ssize_t at = 0; at < size;) {
		const struct inotify_event *event = (const struct inotify_event *)(bytes + at);

		unit_id id = find_watched(event->wd);

		if (id != NO_UNIT && (event->mask & IN_MODIFY))
			look(id);
		at += (ssize_t)(sizeof *event + event->len);
	}
}

bool cgroups_watch(unit_id id, cgroups_empty_fn *empty)
{
	on_empty = empty;
	if (!cgroups_is_there(id))
		return false;
	if (inotify_fd < 0) {
		inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
		if (inotify_fd >= 0 && loop_watch(inotify_fd, events_readable, 0))
			loop_close(&inotify_fd);
	}
	if (inotify_fd < 0)
		return false;
	/* The one call that takes no folder. PID 1 is in no other one but here. */
	watched[id] = fchdir(base_fd) ? 0 : inotify_add_watch(inotify_fd, path_of(id, "/cgroup.events"), IN_MODIFY);
	if (chdir("/") || watched[id] <= 0) {
		watched[id] = 0;
		return false;
	}
	watcher[watched[id] % MAX_UNITS] = id;
	/* It may have been empty before. */
	look(id);
	return true;
}
