/* SPDX-License-Identifier: MIT */
/* Tests how the kernel's counts are read, and that this process' own reads are nobody's foreground. */
#include "../demand.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "shared/tests/check.h"

int main(void)
{
	struct demand demand;
	int root = open("/", O_RDONLY | O_DIRECTORY);

	CHECK(available_kib("MemTotal:  100 kB\nMemFree: 5 kB\nMemAvailable:   40 kB\n") == 40);
	CHECK(available_kib("MemTotal:  100 kB\n") == -1 && available_kib("") == -1);
	CHECK(sectors_read("    1201       17    92114      3121  0 0\n") == 92114);
	CHECK(sectors_read("") == -1 && sectors_read("1 2") == -1 && sectors_read("a b c") == -1);
	demand_begin(&demand, root);
	/* A device whose counts nobody has is one that nobody reads from. */
	demand.disk[0] = 0;
	CHECK(demand_of_disk(&demand) == 0);
	/* More is left than any machine has. */
	demand.least_kib = INT64_MAX;
	CHECK(demand_of_memory(&demand));
	demand.least_kib = 0;
	demand_end(&demand);
	CHECK(!demand_of_memory(&demand));
	close(root);
	return EXIT_SUCCESS;
}
