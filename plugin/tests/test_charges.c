/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the account of charges: counts and sums by name, and only what has changed is written again. */
#include "records/charges.h"

#include <string.h>
#include <unistd.h>

#include "check.h"

static char path[] = "/tmp/bootlab-charges-XXXXXX";

int main(void)
{
	struct probe probes[] = {
		{ .kind = PROBE_MARK, .name = "start_kernel" },
		{ .kind = PROBE_CHARGE, .name = "serial", .ns = 2500 },
		{ .kind = PROBE_CHARGE, .name = "cpuid", .ns = 700 },
	};
	struct config config = { .probes = probes, .n_probes = 3 };
	struct charges charges;
	struct writer writer;
	char text[512];
	FILE *file;
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	close(fd);
	CHECK(config_charges(&config) && probe_repeats(&probes[1]) && !probe_repeats(&probes[0]));
	CHECK(charges_init(&config, &charges) == 0);
	CHECK(writer_open(path, 0, true, &writer) == 0);
	charges_report(&charges, &writer);
	CHECK(charges_add(&charges, 1) == 2500);
	CHECK(charges_add(&charges, 1) == 2500 && charges_add(&charges, 2) == 700);
	charges_report(&charges, &writer);
	writer_mark(&writer, "start_kernel", (struct stamp){ 15700, 10000, 5700 });
	charges_report(&charges, &writer);
	CHECK(charges_add(&charges, 2) == 700);
	charges_report(&charges, &writer);
	writer_call(&writer, "initcall", (struct stamp){ 16400, 10000, 6400 }, 0x1234);
	writer_console(&writer, (struct stamp){ 16400, 10000, 6400 }, 80);
	writer_end(&writer, (struct stamp){ 16400, 10000, 6400 });
	CHECK(writer_close(&writer) == 0);
	file = fopen(path, "r");
	CHECK(file);
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	unlink(path);
	CHECK(!strcmp(text, "bootlab-trace 1\nclock virtual 0 charged\n"
			    "charged serial 2 5000\ncharged cpuid 1 700\n"
			    "mark start_kernel 15700 10000 5700\ncharged cpuid 2 1400\n"
			    "call initcall 16400 10000 6400 1234\nconsole 16400 10000 6400 80\nend 16400 10000 6400\n"));
	charges_deinit(&charges);
	puts("test_charges: ok");
	return 0;
}
