/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the trace that is written, on both clocks, and what a full disk does to it. */
#include "records/writer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static char path[] = "/tmp/bootlab-writer-XXXXXX";

static void check_file(const char *wanted)
{
	char text[1024];
	FILE *file = fopen(path, "r");
	size_t size;

	CHECK(file);
	size = fread(text, 1, sizeof text - 1, file);
	text[size] = '\0';
	fclose(file);
	if (strcmp(text, wanted))
		fprintf(stderr, "got:\n%swanted:\n%s", text, wanted);
	CHECK(!strcmp(text, wanted));
}

static void test_virtual(void)
{
	struct writer writer;

	CHECK(writer_open(path, 3, false, &writer) == 0);
	/* Each record is in the file before the next is written: a killed QEMU leaves it. */
	check_file("bootlab-trace 1\nclock virtual 3\n");
	writer_mark(&writer, "kernel_entry", (struct stamp){ 854122200, 106765275, 0 });
	check_file("bootlab-trace 1\nclock virtual 3\nmark kernel_entry 854122200 106765275\n");
	writer_slide(&writer, 0xe200000);
	writer_call(&writer, "initcall", (struct stamp){ INT64_MAX, 9, 0 }, UINT64_MAX);
	writer_exact(&writer, "disks");
	writer_refused(&writer, "device", "ide-hd is slow");
	writer_guest(&writer, "ready", (struct stamp){ 10, 11, 0 });
	writer_answered(&writer, "ssh", (struct stamp){ 11, 12, 0 });
	writer_seen(&writer, "window", (struct stamp){ 9, 10, 0 }, 0xfe);
	writer_typed(&writer, "name", (struct stamp){ 11, 13, 0 });
	writer_reads(&writer, "image", 4608, 2);
	writer_settled(&writer, 7, 2);
	writer_modelled(&writer, "rootfs", 905, 0);
	writer_frames(&writer, 60, 3, 1);
	writer_end(&writer, (struct stamp){ 12, 13, 0 });
	CHECK(writer_close(&writer) == 0);
	check_file("bootlab-trace 1\nclock virtual 3\nmark kernel_entry 854122200 106765275\nslide e200000\n"
		   "call initcall 9223372036854775807 9 ffffffffffffffff\nexact disks\n"
		   "refused device ide-hd is slow\nguest ready 10 11\nanswered ssh 11 12\nseen window 9 10 00000000000000fe\ntyped name 11 13\n"
		   "reads image 4608 2\nsettled 7 2\nmodelled rootfs 905 0\nframes 60 3 1\nend 12 13\n");
}

static void test_host(void)
{
	struct writer writer;

	CHECK(writer_open(path, -1, true, &writer) == 0);
	writer_end(&writer, (struct stamp){ 7, -1, 0 });
	CHECK(writer_close(&writer) == 0);
	check_file("bootlab-trace 1\nclock host\nend 7 -1\n");
}

static void test_failures(void)
{
	struct writer writer;

	CHECK(writer_open("/nonexistent/trace", 0, false, &writer) == -ENOENT);
	CHECK(writer_open("/dev/full", 0, false, &writer) == -ENOSPC);

	/* The disk fills up later: the first error stays, and nothing crashes. */
	CHECK(writer_open(path, 0, false, &writer) == 0);
	CHECK(freopen("/dev/full", "w", writer.file));
	writer_slide(&writer, 0);
	CHECK(writer.error == -ENOSPC);
	writer_end(&writer, (struct stamp){ 1, 1, 0 });
	CHECK(writer_close(&writer) == -ENOSPC);
}

int main(void)
{
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	close(fd);
	test_virtual();
	test_host();
	test_failures();
	unlink(path);
	puts("test_writer: ok");
	return 0;
}
