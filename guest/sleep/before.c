/* SPDX-License-Identifier: MIT */
/* Reads what is to be done before the machine sleeps, does it, and binds the drivers again that it took off. */
#include "before.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/files.h"
#include "shared/rest.h"
#include "shared/text.h"

#define FOLDER "/etc/bootlab/sleep.d"
#define DISKS "/sys/class/block"

enum { NAMES = 1 << 14, WORD = 256, TEXT = 4096, BIND_AFTER_S = 60 };

/* What one file has had done. */
struct done {
	const char *file;
	unsigned written, untaken, wrong;
	size_t first; /* of its devices */
	bool keeps_caches;
};

/* The last name of a path. */
static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool copy(char *ret, size_t size, struct slice text)
{
	return snprintf(ret, size, "%.*s", (int)text.size, text.at) < (int)size;
}

/* The files that a pattern matches; the caller frees them. */
static bool match(const char *root, struct slice pattern, glob_t *ret)
{
	char path[PATH_MAX];

	memset(ret, 0, sizeof *ret);
	return snprintf(path, sizeof path, "%s%.*s", root, (int)pattern.size, pattern.at) < (int)sizeof path && !glob(path, 0, NULL, ret);
}

static void write_all(const char *root, struct slice pattern, struct slice value, struct done *done)
{
	char text[WORD];
	glob_t found;

	if (!value.size || !copy(text, sizeof text, value)) {
		done->wrong++;
		return;
	}
	if (match(root, pattern, &found))
		for (size_t i = 0; i < found.gl_pathc; i++)
			*(file_write(found.gl_pathv[i], text) ? &done->untaken : &done->written) += 1;
	globfree(&found);
}

static bool is_of_class(const char *device, struct slice prefix)
{
	char path[PATH_MAX], class[WORD];
	ssize_t n;

	if (!prefix.size)
		return true;
	if (snprintf(path, sizeof path, "%s/class", device) >= (int)sizeof path)
		return false;
	n = file_read(path, class, sizeof class);
	return n >= (ssize_t)prefix.size && !memcmp(class, prefix.at, prefix.size);
}

/* Whether a disk hangs on a device: a root would be gone with it. The disk's name is in `ret`. */
static bool carries_disk(const char *root, const char *device, char *ret)
{
	static char bytes[NAMES];
	struct arena arena = { .bytes = bytes, .size = sizeof bytes };
	char path[PATH_MAX], place[PATH_MAX];
	size_t size = strlen(device);
	struct listing disks;

	if (snprintf(path, sizeof path, "%s" DISKS, root) >= (int)sizeof path || folder_list(path, &arena, &disks))
		return false;
	for (size_t i = 0; i < disks.n; i++) {
		if (snprintf(path, sizeof path, "%s" DISKS "/%s", root, disks.names[i]) >= (int)sizeof path || !realpath(path, place))
			continue;
		if (!strncmp(place, device, size) && place[size] == '/') {
			snprintf(ret, LATE_NAME, "%s", disks.names[i]);
			return true;
		}
	}
	return false;
}

static void keep(const char *device, const char *why)
{
	printf("bootlab: fact late_kept.%s %s\n", name_of(device), why);
}

/* `link`: the device's folder, or a link to it. */
static void take_off(const char *root, const char *link, const char *file, struct lates *lates)
{
	char device[PATH_MAX], driver[PATH_MAX], path[PATH_MAX + 8], disk[LATE_NAME];
	struct late *late = &lates->list[lates->n];
	int r;

	if (!realpath(link, device))
		return;
	snprintf(path, sizeof path, "%s/driver", device);
	/* What has no driver keeps nobody waiting. */
	if (!realpath(path, driver))
		return;
	if (carries_disk(root, device, disk)) {
		snprintf(path, sizeof path, "the disk %s hangs on it", disk);
		keep(device, path);
		return;
	}
	if (lates->n == LATE_MAX || strlen(name_of(device)) >= LATE_NAME || strlen(driver) >= LATE_PATH) {
		keep(device, "no room for its name");
		return;
	}
	snprintf(path, sizeof path, "%s/unbind", driver);
	r = file_write(path, name_of(device));
	if (r) {
		keep(device, strerror(-r));
		return;
	}
	strcpy(late->name, name_of(device));
	strcpy(late->driver, driver);
	snprintf(late->file, sizeof late->file, "%s", file);
	lates->n++;
}

static void take_off_all(const char *root, struct slice pattern, struct slice rest, struct done *done, struct lates *lates)
{
	struct slice word, prefix = { "", 0 };
	glob_t found;

	if (word_next(&rest, &word) && (!slice_is(word, "class") || !word_next(&rest, &prefix) || slice_trim(rest).size)) {
		done->wrong++;
		return;
	}
	if (match(root, pattern, &found))
		for (size_t i = 0; i < found.gl_pathc; i++)
			if (is_of_class(found.gl_pathv[i], prefix))
				take_off(root, found.gl_pathv[i], done->file, lates);
	globfree(&found);
}

static void do_line(const char *root, struct slice line, struct done *done, struct lates *lates)
{
	struct slice word, pattern;

	if (!word_next(&line, &word) || *word.at == '#')
		return;
	if (!word_next(&line, &pattern))
		done->wrong++;
	else if (slice_is(word, "write"))
		write_all(root, pattern, slice_trim(line), done);
	else if (slice_is(word, "late"))
		take_off_all(root, pattern, line, done, lates);
	else if (slice_is(word, "keep") && slice_is(pattern, "caches") && !slice_trim(line).size)
		done->keeps_caches = true;
	else
		done->wrong++;
}

static void tell_devices(const char *fact, const char *file, const struct lates *lates, size_t first)
{
	bool any = false;

	for (size_t i = first; i < lates->n; i++) {
		if (strcmp(lates->list[i].file, file))
			continue;
		if (!any)
			printf("bootlab: fact %s.%s", fact, file);
		printf(" %s", lates->list[i].name);
		any = true;
	}
	if (any)
		puts("");
}

/* Whether it has the caches kept. */
static bool do_file(const char *root, const char *name, struct lates *lates)
{
	struct done done = { .file = name, .first = lates->n };
	char path[PATH_MAX];
	static char text[TEXT];
	struct lines lines;
	struct slice line;
	ssize_t n = -ENAMETOOLONG;

	if (snprintf(path, sizeof path, "%s" FOLDER "/%s", root, name) < (int)sizeof path)
		n = file_read(path, text, sizeof text);
	if (n < 0 || n == sizeof text) {
		printf("bootlab: fact before_sleep.%s not read: %s\n", name, n < 0 ? strerror((int)-n) : "it is too long");
		return false;
	}
	lines = lines_of(text, (size_t)n);
	while (line_next(&lines, &line))
		do_line(root, line, &done, lates);
	printf("bootlab: fact before_sleep.%s %u written, %u not taken, %zu late, %u lines not understood\n", name, done.written, done.untaken,
	       lates->n - done.first, done.wrong);
	tell_devices("late", name, lates, done.first);
	return done.keeps_caches;
}

bool before_sleep(const char *root, struct lates *ret)
{
	static char bytes[NAMES];
	struct arena arena = { .bytes = bytes, .size = sizeof bytes };
	struct listing files;
	char path[PATH_MAX];
	bool keeps_caches = false;

	ret->n = 0;
	if (snprintf(path, sizeof path, "%s" FOLDER, root) >= (int)sizeof path || folder_list(path, &arena, &files))
		return false;
	for (size_t i = 0; i < files.n; i++)
		keeps_caches |= do_file(root, files.names[i], ret);
	return keeps_caches;
}

void bind_again(const struct lates *lates)
{
	char path[LATE_PATH + 8];

	for (size_t i = 0; i < lates->n; i++) {
		const struct late *late = &lates->list[i];
		int r;

		snprintf(path, sizeof path, "%s/bind", late->driver);
		r = file_write(path, late->name);
		if (r)
			printf("bootlab: check failed: %s does not come back: %s: %s\n", late->name, name_of(late->driver), strerror(-r));
	}
	for (size_t i = 0; i < lates->n; i++)
		if (!i || strcmp(lates->list[i].file, lates->list[i - 1].file))
			tell_devices("late_back", lates->list[i].file, lates, i);
}

void bind_when_idle(const struct lates *lates)
{
	pid_t child = lates->n ? fork() : 1;

	if (child > 0)
		return;
	if (!child)
		rest_await(BIND_AFTER_S);
	/* Where there can be no second process they come at once. */
	bind_again(lates);
	fflush(stdout);
	if (!child)
		_exit(0);
}
