/* SPDX-License-Identifier: MIT */
/* Tests how a plan's text is read: whole ones, wrong lines, and plans with bytes changed at random. */
#include "../plan.h"

#include <stdio.h>
#include <string.h>

#include "shared/tests/check.h"

static struct plan plan;

static int reading(const char *text)
{
	plan_free(&plan);
	return plan_read(&plan, text, strlen(text), "test");
}

static void test_a_plan(void)
{
	CHECK(reading("# made by hand\n\nmodule /a.ko -\r\nmodule /b.ko 0 debug=1 name=\"x y\"\nmodule /c.ko 1,0\n"
		      "wait /dev/vda 500ms\nwait /dev/sda infinity\nserial\n") == 0);
	CHECK(plan.n_modules == 3 && plan.n_devices == 2 && plan.serial);
	CHECK(!strcmp(plan.modules[0].path, "/a.ko") && plan.modules[0].n_after == 0 && plan.modules[0].line == 3);
	CHECK(!strcmp(plan.modules[1].parameters, "debug=1 name=\"x y\"") && plan.modules[1].after[0] == 0);
	CHECK(plan.modules[2].n_after == 2 && plan.modules[2].after[0] == 1 && plan.modules[2].after[1] == 0);
	CHECK(plan.n_first == 3 && !plan.background);
	CHECK(plan.devices[0].timeout_ns == 500000000 && plan.devices[1].timeout_ns == 0);
}

static void test_the_background(void)
{
	CHECK(reading("module /a.ko -\nbackground\nmodule /b.ko -\nmodule /c.ko 0\n") == 0);
	CHECK(plan.background && plan.n_first == 1 && plan.n_modules == 3);
	CHECK(reading("background 1\n") == 1 && !plan.background);
}

/* Numbers count all lines of modules, right or wrong. */
static void test_wrong_lines(void)
{
	CHECK(reading("module\nmodule a.ko -\nmodule /b.ko 7\nmodule /c.ko -1\nmodule /d.ko 0,,1\nmodule /e.ko -\n") == 5);
	CHECK(plan.n_modules == 6 && !plan.modules[0].path && !plan.modules[4].path);
	CHECK(!strcmp(plan.modules[5].path, "/e.ko"));
	CHECK(reading("module /a.ko 0\n") == 1);
	CHECK(reading("wait vda 1s\nwait /dev/vda\nwait /dev/vda soon\nwait /dev/vda 1s 2s\nserial please\nfoo\n") == 6);
	CHECK(plan.n_devices == 0 && !plan.serial);
	CHECK(reading("") == 0 && plan.n_modules == 0);
}

/* Whatever the bytes: no crash, and nothing read beyond them (the sanitizers watch). */
static void test_mutations(void)
{
	static const char seed[] = "serial\nbackground\nmodule /a.ko -\nmodule /b.ko 0 x=1\nmodule /c.ko 0,1\nwait /dev/vda 10s\n";
	char text[sizeof seed - 1];

	srand(1);
	for (int i = 0; i < 200000; i++) {
		size_t size = 1 + (size_t)rand() % sizeof text;
		char *exact = malloc(size);

		CHECK(exact);
		memcpy(exact, seed, size);
		for (int n = rand() % 6; n > 0; n--)
			exact[(size_t)rand() % size] = (char)rand();
		plan_free(&plan);
		CHECK(plan_read(&plan, exact, size, "mutation") >= 0);
		for (size_t m = 0; m < plan.n_modules; m++)
			for (uint32_t k = 0; k < plan.modules[m].n_after; k++)
				CHECK(plan.modules[m].after[k] < m);
		free(exact);
	}
}

int main(void)
{
	/* What is wrong is told there; 200,000 times is too often. */
	CHECK(freopen("/dev/null", "w", stderr));
	test_a_plan();
	test_the_background();
	test_wrong_lines();
	test_mutations();
	plan_free(&plan);
	return EXIT_SUCCESS;
}
