/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What traps and first touches take by the config's price and touch lines, and the sum for each class of them. */
#ifndef BOOTLAB_PRICES_H
#define BOOTLAB_PRICES_H

#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "touched_memory.h"
#include "trap_counts.h"
#include "writer.h"

struct prices {
	const struct config *config;
	struct price_class {
		const char *name;
		uint64_t count, ns, reported_ns;
	} *classes; /* in the order of the lines that name them first */
	size_t n_classes;
};

/* `config` must outlive it. 0 or -ENOMEM. */
int prices_init(const struct config *config, struct prices *ret);
void prices_deinit(struct prices *prices);

/* One more trap, or first touch of an address; returns what it takes, in ns. */
uint64_t prices_add_trap(struct prices *prices, const struct trap *trap);
uint64_t prices_add_touch(struct prices *prices, uint64_t address, enum touched touched);

/* Tell the trace what has changed since the last time. */
void prices_report(struct prices *prices, struct writer *writer);

#endif
