/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the order of a profile's chunks, and what a full disk does to it. */
#include "records/profile_writer.h"

#include <errno.h>

#include "profile_read.h"

/* Whatever fills up first, names come before nodes and nodes before what refers to them. */
static void test_order(void)
{
	struct profile_writer writer;
	size_t at = 0, size;

	profile_path_make();
	CHECK(profile_writer_open(profile_path, &writer) == 0);
	profile_writer_add(&writer, PROFILE_SPAN, &(struct profile_span){ .node = 1 }, sizeof(struct profile_span));
	profile_writer_add(&writer, PROFILE_NODE, &(struct profile_node){ 0, 3 }, sizeof(struct profile_node));
	profile_writer_add_text(&writer, PROFILE_NAME, &(struct profile_name){ .function = 3, .text_size = 9 },
				sizeof(struct profile_name), "nine; ch\n", 9);
	for (unsigned i = 0; i < 10000; i++)
		profile_writer_add(&writer, PROFILE_SPAN, &(struct profile_span){ .start_ns = i }, sizeof(struct profile_span));
	profile_load(); /* it has filled up by now */
	CHECK(profile_next(PROFILE_NAME, &at, &size) && size == sizeof(struct profile_name) + 16);
	CHECK(profile_next(PROFILE_NODE, &at, &size) && size == sizeof(struct profile_node));
	CHECK(profile_next(PROFILE_SPAN, &at, &size));
	CHECK(profile_writer_close(&writer) == 0);
	profile_load();
	for (unsigned i = 0; i < 10000; i++) {
		struct profile_span span;

		CHECK(profile_record(PROFILE_SPAN, i + 1, sizeof span, &span) && span.start_ns == i);
	}
	unlink(profile_path);
}

static void test_failures(void)
{
	struct profile_writer writer;

	CHECK(profile_writer_open("/nonexistent/profile", &writer) == -ENOENT);
	CHECK(profile_writer_open("/dev/full", &writer) == -ENOSPC);
	/* The disk fills up later: the first error stays, and nothing crashes. */
	memcpy(strrchr(profile_path, '-'), "-XXXXXX", 8);
	profile_path_make();
	CHECK(profile_writer_open(profile_path, &writer) == 0);
	CHECK(freopen("/dev/full", "w", writer.file));
	for (unsigned i = 0; i < 10000; i++)
		profile_writer_add(&writer, PROFILE_SPAN, &(struct profile_span){ .start_ns = i }, sizeof(struct profile_span));
	CHECK(profile_writer_close(&writer) == -ENOSPC);
	unlink(profile_path);
}

int main(void)
{
	test_order();
	test_failures();
	puts("test_profile_writer: ok");
	return 0;
}
