/* SPDX-License-Identifier: MIT */
/* What the program says on its console: marks, and why something is not as it should be. */
#ifndef BOOTLAB_KEPT_SAID_H
#define BOOTLAB_KEPT_SAID_H

enum { REASON_MAX = 160 };

/* The reason that was given last. */
extern char reason[REASON_MAX];

/* Give a reason; -1, for a caller to return. */
int why(const char *format, ...) __attribute__((format(printf, 1, 2)));

void make_mark(const char *name);

#endif
