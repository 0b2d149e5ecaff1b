/* SPDX-License-Identifier: MIT */
/* What bootlab-ctl shows, written by a fork of PID 1: it may wait, and nothing changes meanwhile. */
#ifndef BOOTLAB_INIT_REPORT_H
#define BOOTLAB_INIT_REPORT_H

#include "shared/text.h"

typedef int report_fn(int fd, struct slice name);

/* status, status-json, names, why, chart, log or account; NULL for any other verb. */
report_fn *report_find(struct slice verb);

#endif
