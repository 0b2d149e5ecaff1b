/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The account of what was added to the virtual clock, and for what: a count and a sum for each of the config's charge lines. */
#ifndef BOOTLAB_CHARGES_H
#define BOOTLAB_CHARGES_H

#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "writer.h"

struct charges {
	const struct config *config;
	struct charge {
		uint64_t count;
		uint64_t reported; /* of the count: what the trace was told */
	} *all; /* one per probe */
};

/* `config` must outlive it. 0 or -ENOMEM. */
int charges_init(const struct config *config, struct charges *ret);
void charges_deinit(struct charges *charges);

/* One more of this probe's; returns what it costs, in ns. */
uint64_t charges_add(struct charges *charges, size_t probe);

/* Tell the trace what has changed since the last time. */
void charges_report(struct charges *charges, struct writer *writer);

#endif
