/* SPDX-License-Identifier: MIT */
/*
 * Writes /etc/bootlab/units/NAME.unit.d/99-enable.conf with the line `enable yes` or `enable no`: an image builder can do the same. Of
 * NAME@WORD the link NAME@WORD.unit to its template is made, or taken away.
 */
#include "enable.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const FOLDERS[] = { "/etc/bootlab/units", "/run/bootlab/units", "/usr/lib/bootlab/units" };
enum { N_FOLDERS = sizeof FOLDERS / sizeof FOLDERS[0] };

__attribute__((format(printf, 1, 2)))
static int refuse(const char *format, ...)
{
	va_list arguments;

	fputs("bootlab-ctl: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputs("\n", stderr);
	return -1;
}

static bool is_there(const char *root, const char *folder, const char *file)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof path, "%s%s/%s", root, folder, file) < (int)sizeof path && faccessat(AT_FDCWD, path, F_OK, 0) == 0;
}

/* The folder that has this unit file, without the root; NULL: none. */
static const char *find(const char *root, const char *file)
{
	for (size_t i = 0; i < N_FOLDERS; i++)
		if (is_there(root, FOLDERS[i], file))
			return FOLDERS[i];
	return NULL;
}

/* Each folder on the way to a file; what is there already is as good. */
static void make_folders(char *path)
{
	for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0755);
		*at = '/';
	}
}

/* Whole or not at all, whatever happens meanwhile. */
static int write_file(char *path, const char *text)
{
	char beside[PATH_MAX];
	int fd, r = 0;

	make_folders(path);
	if (snprintf(beside, sizeof beside, "%s~", path) >= (int)sizeof beside)
		return -ENAMETOOLONG;
	fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text) || fsync(fd))
		r = -errno;
	close(fd);
	if (!r && rename(beside, path))
		r = -errno;
	if (r)
		unlink(beside);
	return r;
}

static int link_instance(const char *root, const char *name, const char *template, bool enable)
{
	const char *folder = find(root, template);
	char path[PATH_MAX], target[PATH_MAX];
	struct stat found;

	snprintf(path, sizeof path, "%s%s/%s.unit", root, FOLDERS[0], name);
	if (!enable) {
		if (lstat(path, &found) || !S_ISLNK(found.st_mode))
			return refuse("%s: no such link; nothing was to be done", path);
		return unlink(path) ? refuse("%s: %s", path, strerror(errno)) : 0;
	}
	if (!folder)
		return refuse("%s: there is no %s, and no %s.unit", name, template, name);
	snprintf(target, sizeof target, "%s/%s", folder, template);
	make_folders(path);
	if (symlink(target, path) && errno != EEXIST)
		return refuse("%s: %s", path, strerror(errno));
	return 0;
}

int enable_unit(const char *root, const char *name, bool enable)
{
	char file[NAME_MAX], template[NAME_MAX], path[PATH_MAX];
	const char *at = strchr(name, '@');
	struct stat found;
	int r;

	if (strchr(name, '/') || name[0] == '.' || snprintf(file, sizeof file, "%s.unit", name) >= (int)sizeof file ||
	    strlen(root) + strlen(name) + 100 > sizeof path)
		return refuse("%s: no name of a unit", name);
	snprintf(template, sizeof template, "%.*s@.unit", at ? (int)(at - name) : 0, name);
	snprintf(path, sizeof path, "%s%s/%s", root, FOLDERS[0], file);
	if (at && at[1] && (!find(root, file) || (lstat(path, &found) == 0 && S_ISLNK(found.st_mode)))) {
		r = link_instance(root, name, template, enable);
	} else if (!find(root, file)) {
		if (is_there(root, "/etc/init.d", name))
			return refuse("%s: its links in /etc/rcN.d say whether an init script is started", name);
		return refuse("%s: there is no %s in %s, %s or %s (a systemd service is linked in a .target.wants folder)", name, file,
			      FOLDERS[0], FOLDERS[1], FOLDERS[2]);
	} else {
		strcat(path, ".d/99-enable.conf");
		r = write_file(path, enable ? "enable yes\n" : "enable no\n");
		if (r)
			return refuse("%s: %s", path, strerror(-r));
	}
	if (!r)
		printf("%s: %s at the next boot; what runs now stays as it is\n", name, enable ? "started" : "not started");
	return r;
}
