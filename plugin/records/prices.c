/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the first line that fits, and adds up by its class. */
#include "prices.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int prices_init(const struct config *config, struct prices *ret)
{
	*ret = (struct prices){ .config = config };
	ret->classes = calloc(config->n_prices + config->n_touch_prices + 1, sizeof *ret->classes);
	return ret->classes ? 0 : -ENOMEM;
}

void prices_deinit(struct prices *prices)
{
	free(prices->classes);
	*prices = (struct prices){ .config = NULL };
}

static uint64_t add(struct prices *prices, const char *name, uint64_t ns)
{
	size_t i;

	for (i = 0; i < prices->n_classes; i++)
		if (!strcmp(prices->classes[i].name, name))
			break;
	if (i == prices->n_classes)
		prices->classes[prices->n_classes++].name = name;
	prices->classes[i].count++;
	prices->classes[i].ns += ns;
	return ns;
}

uint64_t prices_add_trap(struct prices *prices, const struct trap *trap)
{
	for (size_t i = 0; i < prices->config->n_prices; i++) {
		const struct price *price = &prices->config->prices[i];

		if (price->kind == trap->kind && trap->number >= price->low && trap->number <= price->high &&
		    (!price->changes || price->changes & trap->changes) && (!price->state || price->state & trap->state))
			return add(prices, price->name, price->ns);
	}
	return 0;
}

static bool is_first(const struct touch_price *price, enum touched touched)
{
	return touched == TOUCHED_CHUNK_FIRST || (touched == TOUCHED_PAGE_FIRST && price->bits == TOUCHED_PAGE_BITS);
}

uint64_t prices_add_touch(struct prices *prices, uint64_t address, enum touched touched)
{
	for (size_t i = 0; i < prices->config->n_touch_prices; i++) {
		const struct touch_price *price = &prices->config->touch_prices[i];

		if (address >= price->low && address < price->high)
			return is_first(price, touched) ? add(prices, price->name, price->ns) : 0;
	}
	return 0;
}

void prices_report(struct prices *prices, struct writer *writer)
{
	for (size_t i = 0; i < prices->n_classes; i++) {
		struct price_class *one = &prices->classes[i];

		/* What is free was not charged. */
		if (one->ns == one->reported_ns)
			continue;
		writer_charged(writer, one->name, one->count, one->ns);
		one->reported_ns = one->ns;
	}
}
