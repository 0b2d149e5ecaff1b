/* SPDX-License-Identifier: MIT */
/* Tests what is known of a file that is copied into the page cache, as this program is, and of one that is not there. */
#include "kept/dax.h"

#include <errno.h>

#include "check.h"

int main(void)
{
	CHECK(!dax_of_file("/proc/self/exe"));
	CHECK(dax_of_file("/proc/self/nothing") == -ENOENT);
	return 0;
}
