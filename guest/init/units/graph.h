/* SPDX-License-Identifier: MIT */
/*
 * Makes of what the unit files mention a graph that can be started: names become edges, what is wanted is marked with
 * all it brings along, cycles are opened, and the way to the goal is marked. Everything wrong is said with file and line.
 */
#ifndef BOOTLAB_INIT_GRAPH_H
#define BOOTLAB_INIT_GRAPH_H

#include "units.h"

struct graph_options {
	const char *const *goals; /* names, NULL behind them; NULL: no goal */
	bool network_file_systems; /* fstab has one, so $remote_fs means what it says */
};

/* Once, after all files have been read. */
void graph_resolve(struct units *units, const struct graph_options *options);

#endif
