/* SPDX-License-Identifier: MIT */
/* Tests that a file that is kept says of itself why it cannot be read, and that every machine's numbers can be read again. */
#include "../store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../pack.h"
#include "shared/tests/check.h"

static char *read_after(int earlier, const char *name, size_t most)
{
	size_t size;

	errno = earlier;
	return store_read(name, most, &size);
}

static void test_why(void)
{
	char name[] = "/tmp/bootlab-store-XXXXXX", text[1024] = { 0 };
	int file = mkstemp(name);

	CHECK(file >= 0 && write(file, text, sizeof text) == (ssize_t)sizeof text);
	close(file);
	/* A caller says nothing of a file that is not there: an error before it is none of this one's. */
	CHECK(!read_after(ENOENT, "/", 16) && errno == EISDIR);
	CHECK(!read_after(ENOENT, name, 16) && errno == EFBIG);
	CHECK(!read_after(0, "/nope", 16) && errno == ENOENT);
	unlink(name);
}

/* A file system's identity has any 63 bits. */
static void test_identity(void)
{
	struct pack pack = { .root = INT64_MAX, .packages = INT64_C(6135671134955814707), .kernel = "6.1", .goal = "goal" }, again;
	const char *why;
	size_t size;
	char *text;

	CHECK(!pack_text(&pack, &text, &size));
	CHECK(!pack_read(&again, text, size, &why) && again.root == pack.root && again.packages == pack.packages);
	pack_free(&again);
	free(text);
}

/* A line loses the blanks at its ends. */
static void test_blanks(void)
{
	struct pack pack = { 0 };
	uint32_t file;

	CHECK(pack_add_file(&pack, " a", 2, &file) && pack_add_file(&pack, "a ", 2, &file));
	CHECK(!pack_add_file(&pack, "a b/ c", 6, &file));
	pack_free(&pack);
}

int main(void)
{
	test_why();
	test_identity();
	test_blanks();
	return EXIT_SUCCESS;
}
