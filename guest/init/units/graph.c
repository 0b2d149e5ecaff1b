/* SPDX-License-Identifier: MIT */
/* Resolves the names in units to edges, and marks what is wanted, what the goal needs and the longest ways there. */
#include "graph.h"

#include <string.h>

#include "cycles.h"
#include "lsb_unit.h"
#include "shared/own.h"
#include "targets.h"

enum { MAX_BUILTINS = 64 };

/* Units that a search has found, for one search at a time. */
static unit_id *found;

/* By the shorter of the two lists that it would be in: one unit may wait for thousands, or be waited for by them. */
static edge_id find_edge(const struct units *units, unit_id from, unit_id to)
{
	edge_id e;

	if (units->unit[from].n_edges_out <= units->unit[to].n_edges_in) {
		for (e = units->unit[from].edges_out; e != NO_EDGE && units->edges[e].to != to;)
			e = units->edges[e].next_of_from;
		return e;
	}
	for (e = units->unit[to].edges_in; e != NO_EDGE && units->edges[e].from != from;)
		e = units->edges[e].next_of_to;
	return e;
}

/* `from` waits for `to`, as `how` says. */
static void add_edge(struct units *units, unit_id from, unit_id to, struct ref how)
{
	edge_id e;

	if (from == to)
		return;
	e = find_edge(units, from, to);
	if (e != NO_EDGE) {
		struct edge *edge = &units->edges[e];

		edge->when |= how.when;
		edge->binds |= how.binds;
		/* The stronger of the two. */
		if (how.relation < edge->relation) {
			edge->relation = how.relation;
			edge->line = how.line;
		}
		return;
	}
	if (units->n_edges == MAX_EDGES) {
		units_full(units, &units->unit[from], how.line, "dependencies", MAX_EDGES);
		return;
	}
	units->edges[units->n_edges] = (struct edge){ .from = from,
						      .to = to,
						      .relation = how.relation,
						      .when = how.when,
						      .line = how.line,
						      .binds = how.binds,
						      .next_of_from = units->unit[from].edges_out,
						      .next_of_to = units->unit[to].edges_in };
	units->unit[from].edges_out = units->unit[to].edges_in = (edge_id)units->n_edges++;
	units->unit[from].n_edges_out++;
	units->unit[to].n_edges_in++;
}

static struct ref after_at(uint8_t when, uint16_t line)
{
	return (struct ref){ .relation = RELATION_AFTER, .when = when, .line = line };
}

static bool is_skipped_member(const struct units *units, const struct ref *ref, const struct graph_options *options)
{
	/* Without a network file system $remote_fs is $local_fs: no network, portmapper or NFS is waited for. */
	return ref->relation == RELATION_MEMBER && !options->network_file_systems &&
	       !strcmp(units->unit[ref->from].name, "$remote_fs") && ref->name[0] != '$';
}

enum { FACILITY_DEPTH = 4 };

/* All members of a facility, those of facilities in it too, wait for what `ref` is of. False when it has none. */
static bool members_wait(struct units *units, unit_id facility, const struct ref *ref,
			 const struct graph_options *options, int depth)
{
	bool has_members = false;

	for (ref_id r = units->unit[facility].refs; depth > 0 && r != NO_REF; r = units->refs[r].next) {
		const struct ref *member = &units->refs[r];
		uint16_t cursor = NO_NAME;
		unit_id id;

		if (member->relation != RELATION_MEMBER || is_skipped_member(units, member, options))
			continue;
		while ((id = units_find_next(units, slice_of(member->name), &cursor)) != NO_UNIT) {
			if (units->unit[id].origin == ORIGIN_FACILITY) {
				has_members |= members_wait(units, id, ref, options, depth - 1);
				continue;
			}
			add_edge(units, id, ref->from, *ref);
			has_members = true;
		}
	}
	return has_members;
}

/* `from` waits for what `ref` is of: before $network is before networking. But systemd's network.target is a moment. */
static void add_reversed(struct units *units, unit_id from, const struct ref *ref, const struct graph_options *options)
{
	bool is_name = units->unit[from].origin == ORIGIN_FACILITY && units->unit[ref->from].origin != ORIGIN_SYSTEMD;

	if (!is_name || !members_wait(units, from, ref, options, FACILITY_DEPTH))
		add_edge(units, from, ref->from, *ref);
}

/* Of several units of one name those that are wanted count; with none of them wanted, the first. */
static unsigned resolve_ref(struct units *units, const struct ref *ref, const struct graph_options *options)
{
	unsigned n_found = 0, n_wanted = 0;
	unit_id first = NO_UNIT;
	bool hard_taken = false;

	for (uint16_t at = ref->named; at != NO_NAME; at = units->names[at].next_same) {
		first = n_found++ ? first : units->names[at].unit;
		n_wanted += units->unit[units->names[at].unit].wanted;
	}
	if (ref->relation == RELATION_PULLS)
		return n_found;
	for (uint16_t at = ref->named; at != NO_NAME; at = units->names[at].next_same) {
		unit_id id = units->names[at].unit;
		struct ref how = *ref;

		if (n_wanted > 0 ? !units->unit[id].wanted : id != first)
			continue;
		/* Any one of several is enough. */
		if (how.relation == RELATION_NEEDS && hard_taken)
			how.relation = RELATION_WANTS;
		hard_taken |= how.relation == RELATION_NEEDS;
		if (ref->reversed)
			add_reversed(units, id, ref, options);
		else
			add_edge(units, ref->from, id, how);
	}
	return n_found;
}

static void complain_missing(struct units *units, const struct ref *ref)
{
	struct unit *unit = &units->unit[ref->from];
	bool hard = ref->relation == RELATION_NEEDS || ref->hard;

	/* A facility that nobody provides is satisfied. */
	if (!ref->must_exist || ref->name[0] == '$')
		return;
	/* What nothing starts at boot may still be asked for; of the many that a distribution brings that need not be said. */
	if (unit->wanted || unit->origin == ORIGIN_OWN)
		units_complain(units, unit->path, ref->line, "%s needs %s, and nothing provides it; %s", unit->name, ref->name,
			       hard ? "it is not started" : "it is started all the same");
	if (hard) {
		unit->broken = true;
		unit->why_broken = "what it needs does not exist";
	}
}

/* Requires= and After= of the same unit are one hard dependency. */
static void join_systemd(struct units *units)
{
	for (size_t i = 0; i < units->n_refs; i++) {
		const struct ref *pull = &units->refs[i];

		if (pull->relation != RELATION_PULLS || !pull->hard)
			continue;
		for (ref_id r = units->unit[pull->from].refs; r != NO_REF; r = units->refs[r].next) {
			struct ref *order = &units->refs[r];

			if (order->relation != RELATION_AFTER || order->reversed || strcmp(order->name, pull->name) != 0)
				continue;
			order->relation = RELATION_NEEDS;
			order->binds |= pull->binds;
		}
	}
}

/* The unit that a reference brings along: the first of that name, unless one of them comes anyway. */
static unit_id brought_by(const struct units *units, const struct ref *ref)
{
	unit_id first = NO_UNIT;

	if (ref->reversed ||
	    (ref->relation != RELATION_NEEDS && ref->relation != RELATION_WANTS && ref->relation != RELATION_PULLS))
		return NO_UNIT;
	for (uint16_t at = ref->named; at != NO_NAME; at = units->names[at].next_same) {
		unit_id other = units->names[at].unit;

		if (units->unit[other].wanted)
			return NO_UNIT;
		first = first == NO_UNIT ? other : first;
	}
	return first;
}

/* With all that it brings along, near and far. */
static void want(struct units *units, unit_id first)
{
	size_t n = 0;

	if (units->unit[first].wanted)
		return;
	units->unit[first].wanted = true;
	found[n++] = first;
	while (n > 0)
		for (ref_id r = units->unit[found[--n]].refs; r != NO_REF; r = units->refs[r].next) {
			unit_id other = brought_by(units, &units->refs[r]);

			if (other == NO_UNIT)
				continue;
			units->unit[other].wanted = true;
			found[n++] = other;
		}
}

/* `$all`: started after every unit that is not itself after all, stopped before every one. */
static void add_all(struct units *units)
{
	for (size_t i = 0; i < units->n_units; i++) {
		const struct unit *unit = &units->unit[i];

		for (size_t j = 0; (unit->after_all || unit->stops_first) && j < units->n_units; j++) {
			const struct unit *other = &units->unit[j];

			if (other->origin == ORIGIN_FACILITY || other->no_defaults)
				continue;
			if (unit->after_all && other->wanted && !other->after_all)
				add_edge(units, (unit_id)i, (unit_id)j, after_at(AT_START, unit->line));
			/* Scripts that nothing has started are stopped by none, but others are ordered through them. */
			if (unit->stops_first && (other->wanted || other->origin == ORIGIN_LSB) && !other->stops_first)
				add_edge(units, (unit_id)i, (unit_id)j, after_at(AT_STOP, unit->line));
		}
	}
}

/* Every unit waits for the built-in basics, where it names nothing itself; a script of runlevel 2 that names nothing was
 * written to come after all of runlevel S. */
static void add_defaults(struct units *units)
{
	static const char *const BASICS[] = { "basics", "loopback" };
	unit_id builtins[MAX_BUILTINS], basics[sizeof BASICS / sizeof BASICS[0]];
	size_t n_builtins = 0;

	for (size_t j = 0; j < sizeof BASICS / sizeof BASICS[0]; j++)
		basics[j] = units_find(units, slice_of(BASICS[j]));
	for (size_t i = 0; i < units->n_units && n_builtins < MAX_BUILTINS; i++)
		if (units->unit[i].origin == ORIGIN_BUILTIN && !units->unit[i].is_network)
			builtins[n_builtins++] = (unit_id)i;
	for (size_t i = 0; i < units->n_units; i++) {
		const struct unit *unit = &units->unit[i];
		bool names_something = unit->edges_out != NO_EDGE;

		if (unit->origin == ORIGIN_BUILTIN || unit->origin == ORIGIN_FACILITY || unit->no_defaults)
			continue;
		if (unit->origin == ORIGIN_LSB && !(unit->levels & (1u << LEVEL_S)) && !names_something)
			for (size_t j = 0; j < units->n_units; j++)
				if (units->unit[j].wanted && (units->unit[j].levels & (1u << LEVEL_S)))
					add_edge(units, (unit_id)i, (unit_id)j, after_at(AT_START, unit->line));
		for (size_t j = 0; j < sizeof BASICS / sizeof BASICS[0]; j++)
			if (basics[j] != NO_UNIT)
				add_edge(units, (unit_id)i, basics[j], after_at(AT_START, unit->line));
		/* What systemd calls sysinit.target; the network is not of it. */
		for (size_t j = 0; unit->origin == ORIGIN_SYSTEMD && j < n_builtins; j++)
			add_edge(units, (unit_id)i, builtins[j], after_at(AT_START, unit->line));
	}
}

/* Longest way from each unit to one that nothing waits for, and so what to start first. Edges lead from the waiting. */
static void measure_heights(struct units *units)
{
	static uint16_t *waiting;
	unit_id *queue = found;
	size_t head = 0, tail = 0;

	OWN_TABLE(waiting, MAX_UNITS);
	memset(waiting, 0, units->n_units * sizeof *waiting);
	for (size_t i = 0; i < units->n_edges; i++)
		if (units->edges[i].when & AT_START)
			waiting[units->edges[i].to]++;
	for (size_t i = 0; i < units->n_units; i++)
		if (waiting[i] == 0)
			queue[tail++] = (unit_id)i;
	for (; head < tail; head++) {
		const struct unit *unit = &units->unit[queue[head]];

		for (edge_id e = unit->edges_out; e != NO_EDGE; e = units->edges[e].next_of_from) {
			struct unit *to = &units->unit[units->edges[e].to];

			if (!(units->edges[e].when & AT_START))
				continue;
			if (unit->wanted && to->height < unit->height + 1)
				to->height = (uint16_t)(unit->height + 1);
			if (--waiting[units->edges[e].to] == 0)
				queue[tail++] = units->edges[e].to;
		}
	}
}

static void mark_goals(struct units *units, const char *const *goals)
{
	unit_id *stack = found;
	size_t depth = 0;

	for (; goals && *goals; goals++) {
		unit_id id = units_find(units, slice_of(*goals));

		if (id == NO_UNIT) {
			units_complain(units, "goal", 0, "%s: no such unit", *goals);
			continue;
		}
		if (!units->unit[id].goal) {
			units->unit[id].goal = true;
			stack[depth++] = id;
		}
	}
	while (depth > 0) {
		unit_id id = stack[--depth];

		for (edge_id e = units->unit[id].edges_out; e != NO_EDGE; e = units->edges[e].next_of_from) {
			struct unit *to = &units->unit[units->edges[e].to];

			if ((units->edges[e].when & AT_START) && to->wanted && !to->goal) {
				to->goal = true;
				stack[depth++] = units->edges[e].to;
			}
		}
	}
}

void graph_resolve(struct units *units, const struct graph_options *options)
{
	OWN_TABLE(found, MAX_UNITS);
	targets_make(units);
	for (size_t i = 0; i < units->n_refs; i++)
		units->refs[i].named = units_find_name(units, slice_of(units->refs[i].name));
	join_systemd(units);
	/* The names of facilities are always answered to. */
	for (size_t i = 0; i < units->n_units; i++)
		if (units->unit[i].origin == ORIGIN_FACILITY || units->unit[i].origin == ORIGIN_BUILTIN)
			units->unit[i].wanted = true;
	for (const char *const *goal = options->goals; goal && *goal; goal++) {
		unit_id id = units_find(units, slice_of(*goal));

		if (id != NO_UNIT)
			units->unit[id].enabled = true;
	}
	for (size_t i = 0; i < units->n_units; i++)
		if (units->unit[i].enabled && !units->unit[i].wanted)
			want(units, (unit_id)i);
	for (size_t i = 0; i < units->n_refs; i++)
		if (!is_skipped_member(units, &units->refs[i], options) && resolve_ref(units, &units->refs[i], options) == 0)
			complain_missing(units, &units->refs[i]);
	add_all(units);
	add_defaults(units);
	cycles_open(units, AT_START);
	cycles_open(units, AT_STOP);
	measure_heights(units);
	mark_goals(units, options->goals);
}
