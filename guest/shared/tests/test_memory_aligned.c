/* SPDX-License-Identifier: MIT */
/* The same tests as a machine runs them that reads and writes words at whole words only: armv7, riscv64. */
#define MEMORY_ANYWHERE 0
#include "test_memory.c"
