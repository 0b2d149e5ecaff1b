/* SPDX-License-Identifier: MIT */
/*
 * What a boot reads from its disk: the kernel's own trace of each page that comes into its cache, which needs no process while the
 * boot goes on. A kernel without it is asked at the goal which pages are there; their order is then not known.
 */
#ifndef BOOTLAB_READAHEAD_LEARN_H
#define BOOTLAB_READAHEAD_LEARN_H

#include "pack.h"

/* From now on, in a trace of that name. 0, or -errno: this kernel cannot. Nothing is changed on a disk. */
int learn_begin(const char *name);

/* Keep a number with a trace that has begun, for the program that ends it. 0 or -errno. */
int learn_keep(const char *name, unsigned long number);

struct learned {
	size_t pages, lost; /* that the kernel had no room to note */
	unsigned long kept; /* by learn_keep; 0: nothing */
	size_t unnamed;     /* pages of files that have no name any more */
	bool traced;        /* false: found in the cache, without an order */
};

/* Paths of files, relative to the root. */
struct names {
	char *const *paths;
	size_t n;
};

/*
 * Files and ranges for the pack, and the end of the trace. 0 or -errno. Where there is none, or nothing is in it, what is in memory now
 * is taken, if `or_resident`. Where `names` has any, only these files are looked at; else all of the root's folders are.
 */
int learn_end(const char *name, int root, bool or_resident, struct names names, struct pack *pack,
	      struct learned *ret);

/* The end of a trace of that name, if there is one that nobody read: its program was killed. */
void learn_drop(const char *name);

/* Add a page, as the trace names it, to those of the same file before it. For tests: a whole line of the trace. */
struct pages {
	struct page_run {
		uint64_t inode; /* 0: the device's own */
		uint64_t index, n;
	} *runs;
	size_t n;
};
/* A line of the trace that learn_keep made: its number, else 0. */
unsigned long kept_in(const char *line);
int pages_add_line(struct pages *pages, const char *line, unsigned major, unsigned minor);

#endif
