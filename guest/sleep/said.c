/* SPDX-License-Identifier: MIT */
/* Reads the words of the kernel's command line, and says marks and failures on the console. */
#include "said.h"

#include <stdio.h>
#include <string.h>

#include "mark.h"
#include "shared/files.h"

enum { WORDS = 4096 };

static char words[WORDS];

bool read_word(const char *name, char *ret, size_t size)
{
	ssize_t n = file_read("/proc/cmdline", words, sizeof words - 1);
	const char *found;

	words[n > 0 ? n : 0] = '\0';
	found = strstr(words, name);
	if (!found)
		return false;
	found += strlen(name);
	snprintf(ret, size, "%.*s", (int)strcspn(found, " \n"), found);
	return true;
}

void make_mark(const char *name)
{
	mark_announce(name, (long)strlen(name));
	printf("bootlab: mark %s\n", name);
	fflush(stdout);
}

int fail_to_sleep(const char *what, int r)
{
	printf("bootlab: not put to sleep: %s: %s\n", what, strerror(-r));
	make_mark("not_slept");
	return EXIT_FAILED;
}
