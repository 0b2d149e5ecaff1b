/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A functions file (trace_format.h): which function an address is in, and which part that plays in the flow of calls. */
#ifndef BOOTLAB_FUNCTIONS_H
#define BOOTLAB_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum role {
	ROLE_PLAIN,
	ROLE_THUNK,	 /* jumps on to a function that it was given; part of the call to that one */
	ROLE_RETURN,	 /* a jump to it is a return */
	ROLE_TRAMPOLINE, /* jumps on to a function, or returns */
	ROLE_ENTRY,	 /* exceptions, interrupts and system calls begin at its first instruction */
	ROLE_STUBS,	 /* a row of such entries */
	ROLE_FORK,	 /* where a new task's stack begins */
	ROLE_SYSCALL,
	ROLE_END,	 /* no function from here to the next line */
};

struct functions {
	uint64_t *addresses; /* ascending */
	uint8_t *roles;
	const char **names; /* into `text` */
	uint32_t count;	    /* lines, the closing `end` included */
	char *text;
};

/*
 * Read a whole file; `path` is for messages only. On failure returns -EINVAL, -ENOMEM or -EIO with one line, "path:line:
 * what", in `message`; then nothing needs freeing.
 */
int functions_read(FILE *file, const char *path, char *message, size_t message_size, struct functions *ret);
/* The same of the file at `path`; any other negative errno when it cannot be opened. */
int functions_open(const char *path, char *message, size_t message_size, struct functions *ret);
void functions_deinit(struct functions *functions);

/* Line number of the function that holds `address`; false when none does. */
bool functions_find(const struct functions *functions, uint64_t address, uint32_t *ret);

/*
 * 32-bit arm: from here on are the kernel's exception vectors, far behind its image and no part of it. All kernels of 64 bits lie
 * above.
 */
#define FUNCTIONS_VECTORS UINT64_C(0xffff0000)

static inline bool functions_has_vectors(const struct functions *functions)
{
	return functions->count && functions->addresses[0] < FUNCTIONS_VECTORS &&
	       functions->addresses[functions->count - 1] > FUNCTIONS_VECTORS;
}

/* Whether `address` is between the first and the last line, vectors apart. */
bool functions_span(const struct functions *functions, uint64_t address);

#endif
