/* SPDX-License-Identifier: MIT */
/* Tests that no file that was opened is missed, and that none of them is waited for. Where fanotify is not allowed: nothing. */
#include "../opened.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/tests/check.h"

enum { FILES = 1500, USUAL_DESCRIPTORS = 1024 };

int main(void)
{
	char folder[] = "/tmp/bootlab-opened-XXXXXX", name[64];
	struct rlimit limit = { USUAL_DESCRIPTORS, USUAL_DESCRIPTORS };
	struct opened opened;
	size_t found = 0;
	int list, file;

	CHECK(mkdtemp(folder));
	list = opened_begin(folder);
	if (list < 0) {
		fprintf(stderr, "skipped: fanotify: %s\n", strerror(-list));
		rmdir(folder);
		return EXIT_SUCCESS;
	}
	alarm(60); /* a FIFO that is waited for */
	CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof name, "%s/%d", folder, i);
		file = open(name, O_RDWR | O_CREAT, 0600);
		CHECK(file >= 0);
		close(file);
	}
	/* Some kernels tell of a FIFO, others do not. */
	snprintf(name, sizeof name, "%s/fifo", folder);
	CHECK(!mkfifo(name, 0600));
	file = open(name, O_RDWR);
	CHECK(file >= 0);
	close(file);
	CHECK(!opened_end(list, "/", &opened) && !opened.lost);
	for (size_t i = 0; i < opened.n; i++)
		found += !strncmp(opened.paths[i], folder + 1, strlen(folder + 1)) && !strstr(opened.paths[i], "fifo");
	CHECK(found == FILES);
	opened_free(&opened);
	unlink(name);
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof name, "%s/%d", folder, i);
		unlink(name);
	}
	rmdir(folder);
	return EXIT_SUCCESS;
}
