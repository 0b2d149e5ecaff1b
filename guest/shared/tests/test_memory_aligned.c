/* SPDX-License-Identifier: MIT */
/* The same tests as a machine runs them that reads and writes words at whole words only: armv7, riscv64. */
#define MEMORY_ANYWHERE 0
#include "memory_cases.h"

int main(void)
{
	test_all_places_and_sizes();
	puts("test_memory_aligned: ok");
	return 0;
}
