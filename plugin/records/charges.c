/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts charges, and writes those that have changed. */
#include "charges.h"

#include <errno.h>
#include <stdlib.h>

int charges_init(const struct config *config, struct charges *ret)
{
	*ret = (struct charges){ .config = config, .all = calloc(config->n_probes + 1, sizeof *ret->all) };
	return ret->all ? 0 : -ENOMEM;
}

void charges_deinit(struct charges *charges)
{
	free(charges->all);
	charges->all = NULL;
}

uint64_t charges_add(struct charges *charges, size_t probe)
{
	charges->all[probe].count++;
	return charges->config->probes[probe].ns;
}

void charges_report(struct charges *charges, struct writer *writer)
{
	for (size_t i = 0; i < charges->config->n_probes; i++) {
		const struct probe *probe = &charges->config->probes[i];
		struct charge *charge = &charges->all[i];

		if (charge->count == charge->reported)
			continue;
		writer_charged(writer, probe->name, charge->count, charge->count * probe->ns);
		charge->reported = charge->count;
	}
}
