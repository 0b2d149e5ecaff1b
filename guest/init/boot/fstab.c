/* SPDX-License-Identifier: MIT */
#include "fstab.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

#include "shared/files.h"
#include "shared/text.h"
#include "state/log.h"

enum { OPTIONS_BYTES = 1024 };

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
		    snprintf(path, OPTIONS_BYTES, "/dev/disk/%s/%s", TAGS[i][1], device + strlen(TAGS[i][0])) < OPTIONS_BYTES)
			return path;
	return device;
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
		used += (size_t)snprintf(data + used, sizeof data - used, "%s%.*s", used ? "," : "", (int)option.size, option.at);
	}
	if (!strcmp(line->folder, "/"))
		flags |= MS_REMOUNT;
	if (mount(device_path(line->device, device), line->folder, line->type, flags, data) == 0)
		return 0;
	/* It is there already. */
	return errno == EBUSY ? 0 : -errno;
}

static bool is_for_us(const struct fstab_line *line)
{
	static const char *const NETWORK[] = { "nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "glusterfs" };

	if (line->n_words < 4 || !strcmp(line->type, "swap") || line->folder[0] != '/' || has_option(line->options, "noauto") ||
	    has_option(line->options, "_netdev"))
		return false;
	for (size_t i = 0; i < sizeof NETWORK / sizeof NETWORK[0]; i++)
		if (!strcmp(line->type, NETWORK[i]))
			return false;
	return true;
}

int fstab_mount(const char *path)
{
	static char content[FILE_BYTES], words_bytes[FILE_BYTES];
	ssize_t size = file_read(path, content, sizeof content);
	struct lines lines = lines_of(content, size > 0 ? (size_t)size : 0);
	struct slice line;
	int first = size < 0 && size != -ENOENT ? (int)size : 0;

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
		if (!is_for_us(&mounted))
			continue;
		r = fstab_mount_line(&mounted);
		if (r && !has_option(mounted.options, "nofail")) {
			log_say(LOG_FAILURE, "%s:%u: %s: %s", path, lines.number, mounted.folder, strerror(-r));
			first = first ? first : r;
		}
	}
	return first;
}
