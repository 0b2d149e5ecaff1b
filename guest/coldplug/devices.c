/* SPDX-License-Identifier: MIT */
/* Lists the devices of this machine below /sys, each with its driver and modalias, as facts for the host. */
#include "devices.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/files.h"

#define DEVICES "/sys/devices/"

enum { MAX_OPEN = 20 };

static char **paths;
static size_t n_paths;

/* nftw(3) has no context. Other than 0 ends it. */
static int collect(const char *path, const struct stat *status, int type, struct FTW *where)
{
	char **more, *made;

	(void)status;
	if (type != FTW_F || strcmp(path + where->base, "modalias"))
		return 0;
	made = strndup(path, (size_t)where->base - 1);
	more = reallocarray(paths, n_paths + 1, sizeof *paths);
	if (more)
		paths = more;
	if (!made || !more) {
		free(made);
		return ENOMEM;
	}
	paths[n_paths++] = made;
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The last part of where a link beside `path` leads; - when there is none. */
static const char *name_behind(const char *path, const char *link, char *ret, size_t size)
{
	char name[PATH_MAX];
	ssize_t n = -1;

	if (snprintf(name, sizeof name, "%s/%s", path, link) < (int)sizeof name)
		n = readlink(name, ret, size - 1);
	if (n <= 0)
		return "-";
	ret[n] = '\0';
	return strrchr(ret, '/') ? strrchr(ret, '/') + 1 : ret;
}

static void tell(size_t number, const char *path)
{
	char file[PATH_MAX], modalias[4096], driver[PATH_MAX], module[PATH_MAX];
	ssize_t size;

	if (snprintf(file, sizeof file, "%s/modalias", path) >= (int)sizeof file)
		return;
	size = file_read(file, modalias, sizeof modalias - 1);
	modalias[size > 0 ? size : 0] = '\0';
	modalias[strcspn(modalias, "\n")] = '\0';
	if (modalias[0])
		printf("bootlab: fact device.%zu %s %s %s %s\n", number, path + strlen(DEVICES),
		       name_behind(path, "driver", driver, sizeof driver),
		       name_behind(path, "driver/module", module, sizeof module), modalias);
}

int devices_tell(void)
{
	int r = nftw("/sys/devices", collect, MAX_OPEN, FTW_PHYS | FTW_MOUNT);

	if (r)
		return r < 0 ? -errno : -r;
	qsort(paths, n_paths, sizeof *paths, by_path);
	for (size_t i = 0; i < n_paths; i++) {
		tell(i, paths[i]);
		free(paths[i]);
	}
	free(paths);
	return fflush(stdout) ? -errno : 0;
}
