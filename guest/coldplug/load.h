/* SPDX-License-Identifier: MIT */
/* Modules into the kernel: each after those that it needs, the others side by side. */
#ifndef BOOTLAB_COLDPLUG_LOAD_H
#define BOOTLAB_COLDPLUG_LOAD_H

#include "plan.h"

struct loading;

struct load_options {
	const char *plan_name; /* for messages */
	unsigned threads;      /* 0: as many as fit the machine */
	bool verbose;
};

/* Begins; NULL when there is no memory for it. Without a single thread it is all done on return. */
struct loading *load_begin(const struct plan *plan, const struct load_options *options);

/* Waits for the last of those that the boot waits for; the number of them that failed. */
unsigned load_await_first(struct loading *loading);

/*
 * Waits for the last one; the number of modules that failed, each told on stderr. One that finds nothing to drive (ENODEV) has
 * not: a CPU of a family has not all that modules of the family are for.
 */
unsigned load_end(struct loading *loading);

#endif
