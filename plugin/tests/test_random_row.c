/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests that as many numbers are left behind as were drawn, each of its size, on a row of our own. */
#include "internals/random_row.h"

#include <errno.h>
#include <stdbool.h>

#include "check.h"

static struct {
	uint64_t drawn;
	size_t size;
	bool ends;
} qemu;

int qemu_guest_getrandom(void *bytes, size_t size, void **error);

int qemu_guest_getrandom(void *bytes, size_t size, void **error)
{
	CHECK(bytes && !error && (!qemu.size || qemu.size == size));
	for (size_t i = 0; i < size; i++)
		((unsigned char *)bytes)[i] = (unsigned char)qemu.drawn;
	qemu.size = size;
	qemu.drawn++;
	return qemu.ends ? -1 : 0;
}

/* What it says of 1,000 instructions; UINT64_MAX: it is refused. */
static uint64_t drawn_of(const char *text)
{
	FILE *file = tmpfile();
	uint64_t drawn = UINT64_MAX;

	CHECK(file && fputs(text, file) >= 0);
	rewind(file);
	CHECK(random_row_read(file, 1000, &drawn) == (drawn == UINT64_MAX ? -EINVAL : 0));
	fclose(file);
	return drawn;
}

static void test_a_file_says_how_many(void)
{
	static const char *const none[] = { "", "\n", "7", "-1\n", " 7\n", "7\n7\n", "1001\n", "18446744073709551615\n",
					    "18446744073709551617\n", "0x7\n" };

	CHECK(drawn_of("0\n") == 0 && drawn_of("7\n") == 7 && drawn_of("1000\n") == 1000);
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		CHECK(drawn_of(none[i]) == UINT64_MAX);
}

int main(void)
{
	struct random_row row;
	char message[256];

	CHECK(random_row_open(message, sizeof message, &row) == 0);
	CHECK(random_row_pass(&row, 0, 8) == 0 && qemu.drawn == 0);
	CHECK(random_row_pass(&row, 1000, 8) == 0 && qemu.drawn == 1000 && qemu.size == 8);
	qemu.size = 0;
	CHECK(random_row_pass(&row, 3, 2) == 0 && qemu.drawn == 1003 && qemu.size == 2);
	CHECK(random_row_pass(&row, 1, 16) == -EIO && qemu.drawn == 1003);
	qemu.ends = true;
	CHECK(random_row_pass(&row, 9, 2) == -EIO && qemu.drawn == 1004);
	test_a_file_says_how_many();
	puts("test_random_row: ok");
	return 0;
}
