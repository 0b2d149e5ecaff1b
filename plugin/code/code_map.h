/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns an address that runs into the code it is: the kernel's at its link address wherever it runs, a stage's before it, a module's, a process's. */
#ifndef BOOTLAB_CODE_MAP_H
#define BOOTLAB_CODE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "functions.h"
#include "guest_memory.h"

enum code_flags {
	CODE_KERNEL = 1,    /* of the kernel's half, or its image wherever it runs */
	CODE_START = 2,     /* the function's first instruction */
	CODE_ANONYMOUS = 4, /* no symbols: `function` stands for all code there */
	CODE_STAGE = 8,     /* before the kernel, or of a vCPU on its way to it */
	CODE_INEXACT = 16,  /* `address` may differ between processes, but not its last 12 bits */
};

/*
 * `address` is the same for the same code wherever it is mapped, and less than 2**59 away from 0 as a signed number: return
 * addresses are compared by it.
 */
struct code_place {
	uint32_t function;
	uint64_t address;
	uint8_t role; /* enum role */
	uint8_t flags;
};

/* The kernel's image in memory. */
struct kernel_image {
	struct functions functions; /* by link address; their numbers are their lines */
	bool entered;		    /* its entry is about to run, and what follows is known */
	uint64_t low_offset;	    /* run-time minus link address while it runs identity-mapped, modulo 2**64 */
	bool host_known;
	uint64_t host_offset; /* the host's minus link address */
	bool slide_known, slide_final;
	uint64_t slide; /* run-time minus link address in the kernel's half */
};

/* The entry was found: link address, run-time (physical) address, and the host's (NULL if unknown). */
void kernel_image_enter(struct kernel_image *image, uint64_t link, uint64_t address, const void *host);
/* From now on the slide does not change any more; the kernel runs. */
void kernel_image_fix_slide(struct kernel_image *image, uint64_t slide);
/*
 * Whether `address` holds code of the image, and at which link address. `host` is where the code is in the host's memory,
 * NULL if unknown: before the slide is final that tells, since the kernel moves itself (arm64 even twice), and of
 * identity-mapped code always.
 */
bool kernel_image_link(struct kernel_image *image, uint64_t address, const void *host, uint64_t *ret);
/* The place of a link address. False: no function is there. */
bool kernel_image_find(const struct kernel_image *image, uint64_t link, struct code_place *ret);

#endif
