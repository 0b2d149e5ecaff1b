/* SPDX-License-Identifier: MIT */
/* Copies units and commands, so that nothing of the copy is where the original was. */
#include "copy.h"

#include <string.h>

#include "conditions.h"
#include "confinement.h"

static bool copy_text(struct arena *arena, const char **text)
{
	if (!*text)
		return true;
	*text = arena_text(arena, *text, strlen(*text));
	return *text;
}

static bool copy_words(struct arena *arena, const char *const **words)
{
	const char **copy;
	size_t n = 0;

	if (!*words)
		return true;
	while ((*words)[n])
		n++;
	copy = arena_take(arena, (n + 1) * sizeof *copy);
	if (!copy)
		return false;
	copy[n] = NULL;
	for (size_t i = 0; i < n; i++) {
		copy[i] = arena_text(arena, (*words)[i], strlen((*words)[i]));
		if (!copy[i])
			return false;
	}
	*words = copy;
	return true;
}

static bool copy_conditions(struct arena *arena, struct condition **link)
{
	for (; *link; link = &(*link)->next) {
		struct condition *copy = arena_take(arena, sizeof *copy);

		if (!copy)
			return false;
		*copy = **link;
		if (!copy_text(arena, &copy->text) || !copy_text(arena, &copy->said))
			return false;
		*link = copy;
	}
	return true;
}

bool copy_unit(struct arena *arena, const struct unit *from, struct unit *ret)
{
	const char **const texts[] = { &ret->name,    &ret->path, &ret->user, &ret->group, &ret->directory,
				       &ret->pidfile, &ret->tty,  &ret->mark, &ret->about, &ret->socket_names };

	*ret = *from;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		if (!copy_text(arena, texts[i]))
			return false;
	if (from->confinement) {
		ret->confinement = arena_take(arena, sizeof *ret->confinement);
		if (!ret->confinement)
			return false;
		*ret->confinement = *from->confinement;
	}
	return copy_words(arena, &ret->environment) && copy_words(arena, &ret->run_folders) &&
	       copy_words(arena, &ret->environment_files) && copy_conditions(arena, &ret->conditions);
}

bool copy_command(struct arena *arena, const struct command *from, struct command *ret)
{
	*ret = *from;
	return copy_text(arena, &ret->path) && copy_words(arena, &ret->argv);
}

/* Where it stands among the others: of these two, `from` was resolved with them. */
static void copy_order(const struct unit *from, struct unit *ret)
{
	ret->enabled = from->enabled;
	ret->wanted = from->wanted;
	ret->goal = from->goal;
	ret->after_all = from->after_all;
	ret->stops_first = from->stops_first;
	ret->deferred = from->deferred;
	ret->no_defaults = from->no_defaults;
	ret->is_network = from->is_network;
	ret->refs = from->refs;
	ret->last_ref = from->last_ref;
	ret->edges_out = from->edges_out;
	ret->edges_in = from->edges_in;
	ret->n_edges_out = from->n_edges_out;
	ret->n_edges_in = from->n_edges_in;
	ret->height = from->height;
	ret->levels = from->levels;
	ret->stop_levels = from->stop_levels;
}

static bool carry_parts(struct units *units, const struct units *before, const struct unit *was, struct unit *carried)
{
	carried->first_command = (uint32_t)units->n_commands;
	carried->first_socket = (uint16_t)units->n_sockets;
	for (unsigned i = 0; i < was->n_commands; i++)
		if (units->n_commands == MAX_COMMANDS ||
		    !copy_command(&units->arena, &before->commands[was->first_command + i], &units->commands[units->n_commands++]))
			return false;
	for (unsigned i = 0; i < was->n_sockets; i++) {
		struct socket_address *address = &units->sockets[units->n_sockets];

		if (units->n_sockets == MAX_SOCKETS)
			return false;
		*address = before->sockets[was->first_socket + i];
		if (!copy_text(&units->arena, &address->text))
			return false;
		units->n_sockets++;
	}
	return true;
}

/* Its file is gone: it still stops in its order, and is not started again. */
static bool carry_order(struct units *units, const struct units *before, const struct unit *was, struct unit *unit)
{
	unit->refs = unit->last_ref = NO_REF;
	unit->edges_out = unit->edges_in = NO_EDGE;
	unit->n_edges_out = unit->n_edges_in = 0;
	unit->enabled = unit->wanted = unit->goal = false;
	unit->restart = RESTART_NO;
	unit->why_broken = "its file is gone";
	unit->on_disk = DISK_GONE;
	units_name(units, unit, slice_of(unit->name), 0);
	for (ref_id r = was->refs; r != NO_REF; r = before->refs[r].next) {
		struct ref how = before->refs[r];

		how.must_exist = false;
		if (!units_refer(units, unit, slice_of(how.name), how))
			return false;
	}
	unit->broken = true;
	return true;
}

bool copy_carry(struct units *units, unit_id id)
{
	const struct unit *was = &units->before->unit[id];
	struct unit *unit = &units->unit[id], carried, *later;

	if (!copy_unit(&units->arena, was, &carried) || !carry_parts(units, units->before, was, &carried))
		return false;
	if (unit->origin == ORIGIN_GONE) {
		*unit = carried;
		return carry_order(units, units->before, was, unit);
	}
	if (units->n_units + units->n_later == MAX_UNITS)
		return false;
	carried.later = (uint32_t)(MAX_UNITS - ++units->n_later);
	carried.on_disk = DISK_CHANGED;
	later = &units->unit[carried.later];
	*later = *unit;
	*unit = carried;
	copy_order(later, unit);
	return true;
}

void copy_take_later(struct units *units, unit_id id)
{
	struct unit *unit = &units->unit[id], taken = units->unit[unit->later];

	copy_order(unit, &taken);
	taken.on_disk = DISK_SAME;
	*unit = taken;
}
