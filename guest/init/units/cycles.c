/* SPDX-License-Identifier: MIT */
/* Finds circles among the units' orders and takes out the edge of each that costs least. */
#include "cycles.h"

#include <string.h>

#include "shared/own.h"
#include "shared/print.h"

struct walk {
	uint8_t state[MAX_UNITS]; /* 0 new, 1 on the way, 2 done */
	struct {
		unit_id unit;
		edge_id next_edge;
	} path[MAX_UNITS]; /* each unit on the way */
	size_t depth;
};

/* The edge of the cycle path[begin..depth-1] that is the easiest to do without. */
static struct edge *weakest(struct units *units, const struct walk *walk, size_t begin, uint8_t when)
{
	struct edge *found = NULL;

	for (size_t i = begin; i < walk->depth; i++) {
		unit_id from = walk->path[i].unit, to = walk->path[i + 1 < walk->depth ? i + 1 : begin].unit;

		for (edge_id e = units->unit[from].edges_out; e != NO_EDGE; e = units->edges[e].next_of_from) {
			struct edge *edge = &units->edges[e];

			if (edge->to == to && !edge->dropped && (edge->when & when) &&
			    (!found || edge->relation > found->relation))
				found = edge;
		}
	}
	return found;
}

static void open_cycle(struct units *units, const struct walk *walk, size_t begin, uint8_t when)
{
	struct edge *edge = weakest(units, walk, begin, when);
	char way[MESSAGE_MAX / 2] = "";
	struct unit *unit;
	size_t used = 0;

	for (size_t i = begin; i <= walk->depth && used < sizeof way; i++)
		used += (size_t)print(way + used, sizeof way - used, "%s%s", i > begin ? " -> " : "",
				      units->unit[walk->path[i < walk->depth ? i : begin].unit].name);
	unit = &units->unit[edge->from];
	edge->when &= (uint8_t)~when;
	edge->dropped = edge->when == 0;
	units_complain(units, unit->path, edge->line, "cycle %s: %s (-> waits for); %s no longer waits for %s",
		       when == AT_START ? "at start" : "at stop", way, unit->name, units->unit[edge->to].name);
	if (edge->relation == RELATION_NEEDS && when == AT_START) {
		unit->broken = true;
		unit->why_broken = "it needs itself, through others";
	}
}

/* One pass from `root`; true if a cycle was opened, and the walk has to begin anew. */
static bool walk_from(struct units *units, struct walk *walk, unit_id root, uint8_t when)
{
	walk->depth = 0;
	walk->path[walk->depth].unit = root;
	walk->path[walk->depth++].next_edge = units->unit[root].edges_out;
	walk->state[root] = 1;
	while (walk->depth > 0) {
		edge_id e = walk->path[walk->depth - 1].next_edge;
		struct edge *edge;

		if (e == NO_EDGE) {
			walk->state[walk->path[--walk->depth].unit] = 2;
			continue;
		}
		edge = &units->edges[e];
		walk->path[walk->depth - 1].next_edge = edge->next_of_from;
		if (!(edge->when & when) || walk->state[edge->to] == 2)
			continue;
		if (walk->state[edge->to] == 1) {
			size_t begin = walk->depth - 1;

			while (walk->path[begin].unit != edge->to)
				begin--;
			open_cycle(units, walk, begin, when);
			return true;
		}
		walk->state[edge->to] = 1;
		walk->path[walk->depth].unit = edge->to;
		walk->path[walk->depth++].next_edge = units->unit[edge->to].edges_out;
	}
	return false;
}

void cycles_open(struct units *units, uint8_t when)
{
	static struct walk *walk;
	bool again = true;

	OWN_TABLE(walk, 1);

	while (again) {
		again = false;
		memset(walk->state, 0, units->n_units * sizeof walk->state[0]);
		for (size_t i = 0; i < units->n_units && !again; i++)
			if (walk->state[i] == 0)
				again = walk_from(units, walk, (unit_id)i, when);
	}
}
