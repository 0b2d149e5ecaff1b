/* SPDX-License-Identifier: MIT */
/* Swaps off and unmounts everything, last mount first, at the end of the system. */
#include "unmount.h"

#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/swap.h>
#include <unistd.h>

#include "shared/files.h"
#include "shared/own.h"
#include "shared/text.h"

/* Pages that are not touched are not there: what a busy machine of containers has fits. */
enum { MAX_MOUNTS = 1 << 14, MOUNTINFO_BYTES = 1 << 22, PASSES = 3 };

static char *content;
static char **folders;

/* "\040" and the like, in place. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] && text[3]) {
			*to++ = (char)((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0'));
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

/* The 5th field of each line of mountinfo. */
static size_t read_folders(void)
{
	ssize_t size = file_read("/proc/self/mountinfo", content, MOUNTINFO_BYTES - 1);
	struct lines lines = lines_of(content, size > 0 ? (size_t)size : 0);
	struct slice line, word;
	size_t n = 0;

	while (line_next(&lines, &line) && n < MAX_MOUNTS) {
		for (int i = 0; i < 5 && word_next(&line, &word); i++)
			;
		if (word.size == 0)
			continue;
		/* Behind it is a blank: there is room for the NUL. */
		folders[n] = (char *)word.at;
		folders[n++][word.size] = '\0';
	}
	for (size_t i = 0; i < n; i++)
		unescape(folders[i]);
	return n;
}

/* Only files: they keep their file system busy. What is in a partition goes with the machine, and taking it back could take long. */
static void swap_off(void)
{
	ssize_t size = file_read("/proc/swaps", content, MOUNTINFO_BYTES - 1);
	struct lines lines = lines_of(content, size > 0 ? (size_t)size : 0);
	struct slice line, word, kind;

	while (line_next(&lines, &line))
		if (lines.number > 1 && word_next(&line, &word) && word_next(&line, &kind) && slice_is(kind, "file")) {
			char *path = (char *)word.at;

			path[word.size] = '\0';
			unescape(path);
			swapoff(path);
		}
}

/* What holds nothing, and is still needed to unmount the rest. */
static int is_kernel_fs(const char *folder)
{
	static const char *const KEPT[] = { "/", "/proc", "/sys", "/dev", "/run" };

	for (size_t i = 0; i < sizeof KEPT / sizeof KEPT[0]; i++)
		if (!strcmp(folder, KEPT[i]))
			return 1;
	return !strncmp(folder, "/proc/", 6) || !strncmp(folder, "/sys/", 5) || !strncmp(folder, "/dev/", 5);
}

bool unmount_all(void)
{
	bool is_read_only;

	OWN_TABLE(content, MOUNTINFO_BYTES);
	OWN_TABLE(folders, MAX_MOUNTS);
	if (chdir("/"))
		return false;
	sync();
	swap_off();
	for (int pass = 0; pass < PASSES; pass++) {
		size_t n = read_folders(), busy = 0;

		while (n-- > 0)
			if (!is_kernel_fs(folders[n]) && umount2(folders[n], UMOUNT_NOFOLLOW))
				busy += mount(NULL, folders[n], NULL, MS_REMOUNT | MS_RDONLY, NULL) != 0;
		if (busy == 0)
			break;
	}
	is_read_only = mount(NULL, "/", NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0;
	sync();
	return is_read_only;
}
