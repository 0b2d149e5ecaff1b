/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests how a functions file is read, and which function is at an address. */
#include "code/functions.h"

#include <errno.h>
#include <string.h>

#include "check.h"

static int read_text(const char *text, size_t size, char message[256], struct functions *ret)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, size, "r");
	int r;

	CHECK(file);
	message[0] = '\0';
	r = functions_read(file, "kernel.txt", message, 256, ret);
	fclose(file);
	return r;
}

static void test_whole(void)
{
	static const char text[] = "bootlab-functions 1\n"
				   "ffffffff81000000 - startup_64\n"
				   "ffffffff81000100 entry asm; name with blanks \n"
				   "ffffffff81000200 end\n"
				   "ffffffff83000000 syscall __x64_sys_read\n"
				   "ffffffff83000040 end end\n";
	struct functions functions;
	char message[256];
	uint32_t line;

	CHECK(read_text(text, strlen(text), message, &functions) == 0);
	CHECK(functions.count == 5 && functions.roles[1] == ROLE_ENTRY && functions.roles[3] == ROLE_SYSCALL);
	CHECK(!strcmp(functions.names[1], "asm; name with blanks ") && !strcmp(functions.names[2], ""));
	CHECK(functions_find(&functions, 0xffffffff81000000, &line) && line == 0);
	CHECK(functions_find(&functions, 0xffffffff810000ff, &line) && line == 0);
	CHECK(functions_find(&functions, 0xffffffff81000100, &line) && line == 1);
	CHECK(!functions_find(&functions, 0xffffffff80ffffff, &line));
	CHECK(!functions_find(&functions, 0xffffffff81000200, &line) && functions_span(&functions, 0xffffffff81000200));
	CHECK(functions_find(&functions, 0xffffffff8300003f, &line) && line == 3);
	CHECK(!functions_find(&functions, 0xffffffff83000040, &line) && !functions_span(&functions, 0xffffffff83000040));
	functions_deinit(&functions);
	CHECK(!functions_find(&functions, 1, &line) && !functions_span(&functions, 1));
}

static void test_bad(void)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "\n", "kernel.txt:1: expected 'bootlab-functions 1'" },
		{ "bootlab-functions 2\n", "kernel.txt:1: expected" },
		{ "bootlab-functions 1\n", "kernel.txt:1: the last line must have the role end" },
		{ "bootlab-functions 1\n1 - a\n", "kernel.txt:2: the last line must have the role end" },
		{ "bootlab-functions 1\n1 - a\n2 end", "kernel.txt:3: the last line is cut off" },
		{ "bootlab-functions 1\n1 - a\n1 end\n", "kernel.txt:3: addresses must ascend" },
		{ "bootlab-functions 1\n1 -\n2 end\n", "kernel.txt:2: expected: ADDRESS ROLE NAME" },
		{ "bootlab-functions 1\nx - a\n2 end\n", "kernel.txt:2: expected: ADDRESS ROLE NAME" },
		{ "bootlab-functions 1\n1 role a\n2 end\n", "kernel.txt:2: unknown role" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct functions functions;
		char message[256];
		int r = read_text(cases[i].text, strlen(cases[i].text), message, &functions);

		if (r != -EINVAL || strncmp(message, cases[i].message, strlen(cases[i].message)))
			fprintf(stderr, "%s -> %d %s\n", cases[i].text, r, message);
		CHECK(r == -EINVAL && !strncmp(message, cases[i].message, strlen(cases[i].message)));
	}
}

static void test_files(void)
{
	struct functions functions;
	char message[256];

	CHECK(functions_open("/nonexistent/functions", message, sizeof message, &functions) == -ENOENT);
	CHECK(!strcmp(message, "/nonexistent/functions: No such file or directory"));
	/* A NUL would hide what follows. */
	CHECK(read_text("bootlab-functions 1\n1 - a\0\n2 end\n", 32, message, &functions) == -EINVAL);
}

/* The reader's buffer grows: 100,000 lines. */
static void test_large(void)
{
	enum { LINES = 100000 };
	struct functions functions;
	char *text = malloc(LINES * 40), message[256], *end = text;
	uint32_t line;

	CHECK(text);
	end += sprintf(end, "bootlab-functions 1\n");
	for (unsigned i = 0; i < LINES; i++)
		end += sprintf(end, "%x %s f%u\n", 16 * i, i == LINES - 1 ? "end" : "-", i);
	CHECK(read_text(text, (size_t)(end - text), message, &functions) == 0 && functions.count == LINES);
	for (unsigned i = 0; i < LINES - 1; i += 7)
		CHECK(functions_find(&functions, 16 * i + 15, &line) && line == i);
	functions_deinit(&functions);
	free(text);
}

/* 32-bit arm's vectors are found, and are no part of the image. */
static void test_vectors(void)
{
	static const char text[] = "bootlab-functions 1\nc0008000 - stext\nc0009000 end\nffff0000 stubs vectors\nffff0020 end\n"
				   "ffff1000 stubs vector_irq\nffff2000 end\n";
	struct functions functions;
	char message[256];
	uint32_t line;

	CHECK(read_text(text, strlen(text), message, &functions) == 0 && functions_has_vectors(&functions));
	CHECK(functions_find(&functions, 0xffff0018, &line) && functions.roles[line] == ROLE_STUBS);
	CHECK(!functions_find(&functions, 0xffff0fe0, &line) && functions_find(&functions, 0xffff1024, &line) && line == 4);
	CHECK(functions_span(&functions, 0xc0008004) && !functions_span(&functions, 0xffff0018));
	functions_deinit(&functions);
}

int main(void)
{
	test_whole();
	test_vectors();
	test_bad();
	test_files();
	test_large();
	puts("test_functions: ok");
	return 0;
}
