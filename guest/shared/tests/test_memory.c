/* SPDX-License-Identifier: MIT */
/* Tests our memset and memcpy as this machine runs them. */
#include "memory_cases.h"

int main(void)
{
	test_all_places_and_sizes();
	puts("test_memory: ok");
	return 0;
}
