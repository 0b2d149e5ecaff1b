/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the trace (trace_format.h), one flushed line per record. No QEMU headers. */
#ifndef BOOTLAB_WRITER_H
#define BOOTLAB_WRITER_H

#include <stdint.h>
#include <stdio.h>

struct stamp {
	int64_t t_ns;
	int64_t instructions; /* -1: the clock does not count them */
};

struct writer {
	FILE *file;
	int error; /* the first failure, -errno; everything after it is dropped */
};

/* Create the file and write its first two lines; `shift` is -1 for the host clock. Returns 0 or -errno. */
int writer_open(const char *path, int shift, struct writer *ret);
/* Returns 0, or the first failure of any write as -errno. */
int writer_close(struct writer *writer);

void writer_slide(struct writer *writer, uint64_t slide);
void writer_mark(struct writer *writer, const char *name, struct stamp at);
void writer_guest(struct writer *writer, const char *name, struct stamp at);
void writer_call(struct writer *writer, const char *name, struct stamp at, uint64_t argument);
void writer_console(struct writer *writer, struct stamp at, uint64_t size);
void writer_end(struct writer *writer, struct stamp at);

#endif
