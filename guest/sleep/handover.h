/* SPDX-License-Identifier: MIT */
/*
 * What lies where as another kernel is entered on x86-64 (Linux, Documentation/arch/x86/boot.rst, "64-bit Boot Protocol"): kernel,
 * initramfs, and three pages of what it is told: the code that enters it, its boot parameters, its command line.
 */
#ifndef BOOTLAB_SLEEP_HANDOVER_H
#define BOOTLAB_SLEEP_HANDOVER_H

#include <asm/bootparam.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/text.h"

enum { HANDOVER_PAGE = 4096, HANDOVER_TOLD = 3 * HANDOVER_PAGE, HANDOVER_SEED = 32, HANDOVER_PARTS = 3 };


/* What is copied to the physical address `at`; it has `room` bytes there, whole pages. */
struct part {
	struct slice bytes;
	uint64_t at, room;
};

struct handover {
	struct part parts[HANDOVER_PARTS];
	size_t n;
	uint64_t entry; /* where the code begins that enters the kernel */
	char told[HANDOVER_TOLD] __attribute__((aligned(HANDOVER_PAGE)));
};

/*
 * `own`: the boot parameters of the kernel that runs, which have the firmware's memory map, ACPI's root, the screen and the disks
 * as its bootloader found them. `seed`: random numbers for the kernel, HANDOVER_SEED bytes or none.
 * 0; -ENOEXEC: `kernel` is no bzImage with a 64-bit entry; -E2BIG: the command line is too long for it; -ENOSPC: one of the parts
 * finds no place in memory.
 */
int handover_plan(struct slice kernel, struct slice archive, const char *command_line, const struct boot_params *own, struct slice seed,
		  struct handover *ret);

#endif
