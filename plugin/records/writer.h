/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the trace (trace_format.h), one flushed line per record. No QEMU headers. */
#ifndef BOOTLAB_WRITER_H
#define BOOTLAB_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct stamp {
	int64_t t_ns;
	int64_t instructions; /* -1: the clock does not count them */
	int64_t charged_ns; /* of t_ns: what was added to the clock for events, up to now */
};

struct writer {
	FILE *file;
	bool charged; /* each stamp says what was charged up to it */
	int error; /* the first failure, -errno; everything after it is dropped */
};

/*
 * Create the file and write its first two lines; `shift` is -1 for the host clock, and `charged` says that events may be charged
 * to the other one. Returns 0 or -errno.
 */
int writer_open(const char *path, int shift, bool charged, struct writer *ret);
/* Returns 0, or the first failure of any write as -errno. */
int writer_close(struct writer *writer);

void writer_slide(struct writer *writer, uint64_t slide);
void writer_mark(struct writer *writer, const char *name, struct stamp at);
void writer_guest(struct writer *writer, const char *name, struct stamp at);
/* A mark that the network's peer made. */
void writer_answered(struct writer *writer, const char *name, struct stamp at);
/* A mark of the screen, of a moment that may be over, with a hash of all frames up to now; the last key that was typed. */
void writer_seen(struct writer *writer, const char *name, struct stamp at, uint64_t hash);
void writer_typed(struct writer *writer, const char *name, struct stamp at);
void writer_call(struct writer *writer, const char *name, struct stamp at, uint64_t argument);
void writer_console(struct writer *writer, struct stamp at, uint64_t size);
/* A feature that was asked for works on this machine, or why it does not. */
void writer_exact(struct writer *writer, const char *feature);
void writer_refused(struct writer *writer, const char *feature, const char *why);
/* What was charged for `name` up to here: so often, and so much altogether. */
void writer_charged(struct writer *writer, const char *name, uint64_t count, uint64_t ns);
/* What the guest has read from a drive up to the next record. */
void writer_reads(struct writer *writer, const char *drive, uint64_t bytes, uint64_t requests);
void writer_settled(struct writer *writer, uint64_t count, uint64_t unsettled);
/* What became of a modelled disk. */
void writer_modelled(struct writer *writer, const char *drive, uint64_t requests, uint64_t late);
/* What became of the looks at the screen. */
void writer_frames(struct writer *writer, uint64_t looks, uint64_t changes, uint64_t lost);
void writer_end(struct writer *writer, struct stamp at);

#endif
