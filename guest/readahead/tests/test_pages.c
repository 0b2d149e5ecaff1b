/* SPDX-License-Identifier: MIT */
/* Tests how lines of the kernel's trace become runs of pages: those of kernels 5.10, 6.1 and 6.12, and lines that are none. */
#include "../learn.h"

#include <stdlib.h>
#include <string.h>

#include "shared/tests/check.h"

#define LINE "     systemd-1 [000] .....  1.234: mm_filemap_add_to_page_cache: "

static struct pages pages;

static void add(const char *line)
{
	CHECK(pages_add_line(&pages, line, 254, 1) == 0);
}

static void test_lines(void)
{
	add(LINE "dev 254:1 ino 1f page=0000000012345678 pfn=4711 ofs=4096\n");
	add(LINE "dev 254:1 ino 1f page=0000000012345678 pfn=0x1267 ofs=8192 order=0\n");
	add(LINE "dev 254:1 ino 2 pfn=0x1267 ofs=0 order=2\n");
	add(LINE "dev 254:1 ino 1f pfn=0x1267 ofs=12288 order=0\n");
	/* The device's own pages, and those of another disk, of another device, and of memory. */
	add(LINE "dev 0:5 ino fe00001 pfn=0x1267 ofs=40960 order=0\n");
	add(LINE "dev 254:2 ino 1f pfn=0x1267 ofs=16384 order=0\n");
	add(LINE "dev 0:5 ino fe00002 pfn=0x1267 ofs=0 order=0\n");
	add(LINE "dev 0:21 ino 1f pfn=0x1267 ofs=0 order=0\n");
	CHECK(pages.n == 3);
	CHECK(pages.runs[0].inode == 0x1f && pages.runs[0].index == 1 && pages.runs[0].n == 3);
	CHECK(pages.runs[1].inode == 2 && pages.runs[1].n == 4);
	CHECK(pages.runs[2].inode == 0 && pages.runs[2].index == 10 && pages.runs[2].n == 1);
}

static void test_what_is_kept(void)
{
	CHECK(kept_in("  bootlab-readahe-1 [000] .....  1.234: tracing_mark_write: bootlab-readahead: keep 256\n") == 256);
	CHECK(kept_in("  bootlab-readahe-1 [000] .....  1.234: tracing_mark_write: bootlab-readahead: keep \n") == 0);
	CHECK(kept_in(LINE "dev 254:1 ino 1f pfn=0x1267 ofs=4096 order=0\n") == 0);
}

static void test_what_is_no_page(void)
{
	static const char whole[] = LINE "dev 254:1 ino 1f pfn=0x1267 ofs=999999999999 order=0\n";
	size_t before = pages.n;

	add("# tracer: nop\n");
	add("");
	add(LINE "\n");
	add(LINE "dev 254:1 ino  ofs= order=\n");
	add(LINE "dev 254:1 ino 99999999999999999999999 ofs=0 order=0\n");
	CHECK(pages.n == before);
	srand(3);
	for (int i = 0; i < 10000; i++) {
		char *line = strdup(whole);

		CHECK(line);
		line[(size_t)rand() % (sizeof whole - 1)] = (char)(1 + rand() % 255);
		add(line);
		free(line);
	}
}

int main(void)
{
	test_lines();
	test_what_is_kept();
	test_what_is_no_page();
	free(pages.runs);
	return EXIT_SUCCESS;
}
