/* SPDX-License-Identifier: MIT */
/* Checks and mounts the local file systems of /etc/fstab, and swaps on. */
#include "fstab.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/swap.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shared/clock.h"
#include "shared/files.h"
#include "shared/large.h"
#include "shared/print.h"
#include "shared/text.h"
#include "state/log.h"

enum { OPTIONS_BYTES = 1024, DEVICE_WAIT_S = 10, DEVICE_LOOK_MS = 20 };
enum { FSCK_REBOOT = 2, FSCK_ERRORS_LEFT = 4, FSCK_NOT_RUN = 127 };

static const struct {
	const char *name;
	unsigned long set, clear;
} FLAGS[] = {
	{ "ro", MS_RDONLY, 0 },		{ "rw", 0, MS_RDONLY },		{ "nosuid", MS_NOSUID, 0 },
	{ "suid", 0, MS_NOSUID },	{ "nodev", MS_NODEV, 0 },	{ "dev", 0, MS_NODEV },
	{ "noexec", MS_NOEXEC, 0 },	{ "exec", 0, MS_NOEXEC },	{ "sync", MS_SYNCHRONOUS, 0 },
	{ "async", 0, MS_SYNCHRONOUS }, { "noatime", MS_NOATIME, 0 },	{ "relatime", MS_RELATIME, 0 },
	{ "nodiratime", MS_NODIRATIME, 0 }, { "strictatime", MS_STRICTATIME, 0 }, { "bind", MS_BIND, 0 },
	{ "rbind", MS_BIND | MS_REC, 0 }, { "remount", MS_REMOUNT, 0 },	{ "defaults", 0, 0 },
	{ "auto", 0, 0 },		{ "nofail", 0, 0 },		{ "user", MS_NOSUID | MS_NODEV | MS_NOEXEC, 0 },
	{ "users", MS_NOSUID | MS_NODEV | MS_NOEXEC, 0 },		{ "nouser", 0, 0 },
};

static bool next_option(struct slice *rest, struct slice *option)
{
	const char *comma = memchr(rest->at, ',', rest->size);

	*option = (struct slice){ rest->at, comma ? (size_t)(comma - rest->at) : rest->size };
	*rest = slice_from(*rest, comma ? option->size + 1 : option->size);
	return option->size > 0;
}

static bool has_option(const char *options, const char *wanted)
{
	struct slice rest = slice_of(options), option;

	while (next_option(&rest, &option))
		if (slice_is(option, wanted))
			return true;
	return false;
}

static bool is_flag(struct slice option, unsigned long *flags)
{
	for (size_t i = 0; i < sizeof FLAGS / sizeof FLAGS[0]; i++)
		if (slice_is(option, FLAGS[i].name)) {
			*flags = (*flags | FLAGS[i].set) & ~FLAGS[i].clear;
			return true;
		}
	/* x-systemd.automount and the like are notes for others. */
	return slice_starts(option, "x-") || slice_starts(option, "comment=") || slice_is(option, "_netdev");
}

/* UUID=... and the like by the links that udev makes. */
static const char *device_path(const char *device, char *path)
{
	static const char *const TAGS[][2] = { { "UUID=", "by-uuid" },
					       { "LABEL=", "by-label" },
					       { "PARTUUID=", "by-partuuid" },
					       { "PARTLABEL=", "by-partlabel" } };

	for (size_t i = 0; i < sizeof TAGS / sizeof TAGS[0]; i++)
		if (slice_starts(slice_of(device), TAGS[i][0]) &&
		    print(path, OPTIONS_BYTES, "/dev/disk/%s/%s", TAGS[i][1], device + strlen(TAGS[i][0])) < OPTIONS_BYTES)
			return path;
	return device;
}

static bool is_root(const struct fstab_line *line)
{
	return !strcmp(line->folder, "/");
}

int fstab_mount_line(const struct fstab_line *line)
{
	struct slice rest = slice_of(line->options), option;
	char data[OPTIONS_BYTES] = "", device[OPTIONS_BYTES];
	unsigned long flags = 0;
	size_t used = 0;

	while (next_option(&rest, &option)) {
		if (is_flag(option, &flags))
			continue;
		if (used + option.size + 2 > sizeof data)
			return -E2BIG;
		used += (size_t)print(data + used, sizeof data - used, "%s%.*s", used ? "," : "", (int)option.size, option.at);
	}
	if (is_root(line))
		flags |= MS_REMOUNT;
	if (mount(device_path(line->device, device), line->folder, line->type, flags, data) == 0)
		return 0;
	/* It is there already. */
	return errno == EBUSY ? 0 : -errno;
}

static bool is_for_us(const struct fstab_line *line)
{
	static const char *const NETWORK[] = { "nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "glusterfs" };

	if (line->n_words < 4 || has_option(line->options, "noauto") || has_option(line->options, "_netdev"))
		return false;
	if (!strcmp(line->type, "swap"))
		return true;
	if (line->folder[0] != '/')
		return false;
	for (size_t i = 0; i < sizeof NETWORK / sizeof NETWORK[0]; i++)
		if (!strcmp(line->type, NETWORK[i]))
			return false;
	return true;
}

/* x-systemd.device-timeout=, or what is enough for a disk that is slow to start. */
static int64_t device_timeout_ns(const char *options)
{
	static const char OPTION[] = "x-systemd.device-timeout=";
	struct slice rest = slice_of(options), option;
	int64_t ns;

	while (next_option(&rest, &option))
		if (slice_starts(option, OPTION) && !parse_duration(slice_from(option, strlen(OPTION)), &ns) && ns > 0)
			return ns;
	return DEVICE_WAIT_S * NS_PER_S;
}

/* Until the device of the line is there: udev, or the kernel, makes it. What is no device is not waited for. */
static int await_device(const struct fstab_line *line, const char *device)
{
	int64_t timeout_ns = device_timeout_ns(line->options), end_ns = clock_awake_ns() + timeout_ns;

	if (strncmp(device, "/dev/", strlen("/dev/")) != 0 || file_exists(device))
		return 0;
	log_say(LOG_NOTE, "%s: waiting for %s, %lld.%03lld s at most", line->folder, line->device, (long long)(timeout_ns / NS_PER_S),
		(long long)(timeout_ns % NS_PER_S / NS_PER_MS));
	while (!file_exists(device)) {
		if (clock_awake_ns() >= end_ns)
			return -ENODEV;
		nanosleep(&(struct timespec){ .tv_nsec = DEVICE_LOOK_MS * NS_PER_MS }, NULL);
	}
	return 0;
}

/* The root's device may have another name by now, or none: then one is made of its numbers, and not in /run, where no device can be
 * opened. NULL when there is none to be checked now. */
static const char *root_device(const char *named)
{
	static const char PATH[] = "/dev/bootlab-root";
	struct statvfs found;
	struct stat root, device;

	if (statvfs("/", &found) || !(found.f_flag & ST_RDONLY) || stat("/", &root) || major(root.st_dev) == 0)
		return NULL;
	if (stat(named, &device) == 0 && S_ISBLK(device.st_mode) && device.st_rdev == root.st_dev)
		return named;
	unlink(PATH);
	return mknod(PATH, S_IFBLK | 0600, root.st_dev) ? NULL : PATH;
}

/* 0, or -EIO when it must not be mounted as it is. fsck(8) has the statuses. */
static int check_device(const struct fstab_line *line, const char *device)
{
	char tool[OPTIONS_BYTES];
	int status = 0;
	pid_t pid;

	if (!line->is_checked || print(tool, sizeof tool, "/sbin/fsck.%s", line->type) >= (int)sizeof tool || !file_exists(tool))
		return 0;
	if (is_root(line))
		device = root_device(device);
	if (!device)
		return 0;
	pid = fork();
	if (pid == 0) {
		execl(tool, tool, "-a", device, (char *)NULL);
		_exit(FSCK_NOT_RUN);
	}
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	status = WIFEXITED(status) ? WEXITSTATUS(status) : FSCK_NOT_RUN;
	if (status > 0)
		log_say(LOG_FAILURE, "%s: %s -a %s ended with status %d%s", line->folder, tool, line->device, status,
			status & FSCK_REBOOT ? ": the machine should be started again" : "");
	/* What could not be checked at all is mounted as it would be without the tool. */
	return status & FSCK_ERRORS_LEFT && status < FSCK_NOT_RUN ? -EIO : 0;
}

/* pri=N is the one option that swapon(2) takes besides discard. */
static int swap_on(const struct fstab_line *line, const char *device)
{
	struct slice rest = slice_of(line->options), option;
	int64_t priority;
	int flags = 0;

	while (next_option(&rest, &option)) {
		if (slice_starts(option, "pri=") && !parse_number(slice_from(option, 4), 0, SWAP_FLAG_PRIO_MASK, &priority))
			flags |= SWAP_FLAG_PREFER | (int)priority;
		if (slice_is(option, "discard"))
			flags |= SWAP_FLAG_DISCARD;
	}
	return swapon(device, flags) == 0 || errno == EBUSY ? 0 : -errno;
}

/* All that a line asks for. */
static int do_line(const struct fstab_line *line)
{
	char path[OPTIONS_BYTES];
	const char *device = device_path(line->device, path);
	/* The root is there, whatever it is called. */
	int r = is_root(line) ? 0 : await_device(line, device);

	if (r)
		return r;
	if (!strcmp(line->type, "swap"))
		return swap_on(line, device);
	r = check_device(line, device);
	return r ? r : fstab_mount_line(line);
}

int fstab_mount(const char *path)
{
	LARGE static char content[FILE_BYTES], words_bytes[FILE_BYTES];
	ssize_t size = file_read(path, content, sizeof content);
	struct lines lines = lines_of(content, size > 0 ? (size_t)size : 0);
	struct slice line;
	int first = size < 0 && size != -ENOENT ? (int)size : 0;

	if (size == sizeof content)
		log_say(LOG_FAILURE, "%s: longer than %d bytes: the rest is not read", path, FILE_BYTES - 1);
	while (line_next(&lines, &line)) {
		struct arena arena = { .bytes = words_bytes, .size = sizeof words_bytes };
		const char *fields[6] = { NULL };
		struct fstab_line mounted = { .n_words = 0 };
		struct slice word;
		int r;

		while (mounted.n_words < 6 && word_next(&line, &word))
			fields[mounted.n_words++] = arena_text(&arena, word.at, word.size);
		if (mounted.n_words == 0 || fields[0][0] == '#')
			continue;
		mounted.device = fields[0], mounted.folder = fields[1], mounted.type = fields[2], mounted.options = fields[3];
		mounted.is_checked = mounted.n_words == 6 && strcmp(fields[5], "0") != 0;
		if (!is_for_us(&mounted))
			continue;
		r = do_line(&mounted);
		if (!r)
			continue;
		/* One that may be missing is told all the same, and is no failure. */
		log_say(has_option(mounted.options, "nofail") ? LOG_NOTE : LOG_FAILURE, "%s:%u: %s %s: %s", path, lines.number,
			mounted.device, mounted.folder, strerror(-r));
		if (!has_option(mounted.options, "nofail"))
			first = first ? first : r;
	}
	return first;
}
