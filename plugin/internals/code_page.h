/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where code lies in physical memory: QEMU's plugin interface tells that of data only. No QEMU headers. */
#ifndef BOOTLAB_CODE_PAGE_H
#define BOOTLAB_CODE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_pages {
	uint64_t (*find)(void *cpu, uint64_t address);
	void *const *cpu; /* the one that runs, of the thread that opened it */
};

/*
 * Find the function and prove it, from the thread that runs all vCPUs, while they have no page tables yet: `address`, of the code
 * that runs, is then physical. 0, or -ENOTSUP with one line in `message`.
 */
int code_pages_open(uint64_t address, char *message, size_t message_size, struct code_pages *ret);

/* The physical address of the page that holds `address` of the vCPU that runs; false: none does. */
bool code_page_find(const struct code_pages *pages, uint64_t address, uint64_t *ret);

#endif
