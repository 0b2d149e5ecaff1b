/* SPDX-License-Identifier: MIT */
/* Keeps the units and every name that a file mentions, and finds them by name. */
#include "units.h"

#include <stdarg.h>
#include <string.h>

#include "shared/clock.h"
#include "shared/print.h"

enum { BUCKETS = sizeof ((struct units *)NULL)->buckets / sizeof(uint16_t), START_TIMEOUT_S = 90, STOP_TIMEOUT_S = 10 };

void units_init(struct units *units, complain_fn *complain, void *context)
{
	units->n_units = units->n_names = units->n_refs = units->n_edges = units->n_commands =
		units->n_sockets = 0;
	units->n_later = 0;
	units->before = NULL;
	units->n_complaints = 0;
	units->n_left_out = 0;
	units->n_unreadable = 0;
	units->left_out = NULL;
	units->complain = complain;
	units->complain_context = context;
	units->arena = (struct arena){ .bytes = units->memory, .size = sizeof units->memory };
}

void units_complain(struct units *units, const char *path, unsigned line, const char *format, ...)
{
	char message[MESSAGE_MAX];
	va_list arguments;

	va_start(arguments, format);
	print_list(message, sizeof message, format, arguments);
	va_end(arguments);
	units->n_complaints++;
	units->complain(units->complain_context, path, line, message);
}

void units_full(struct units *units, struct unit *unit, unsigned line, const char *what, size_t most)
{
	units->n_left_out++;
	if (units->left_out != unit->name)
		units_complain(units, unit->path, line, "no room for more than %zu %s of all units together: %s is not started", most,
			       what, unit->name);
	units->left_out = unit->name;
	unit->broken = true;
	unit->why_broken = "there is no room for all that its file says";
}

static bool is_name(struct slice name)
{
	if (name.size == 0 || name.size > UNIT_NAME_MAX)
		return false;
	for (size_t i = 0; i < name.size; i++)
		if (name.at[i] <= ' ' || name.at[i] > '~' || name.at[i] == '/')
			return false;
	return true;
}

void units_succeed(struct units *units, const struct units *before)
{
	units->before = before;
	units->n_units = before->n_units;
	for (size_t i = 0; i < before->n_units; i++)
		units->unit[i] = (struct unit){ .name = arena_text(&units->arena, before->unit[i].name, strlen(before->unit[i].name)),
						.path = "its file is gone",
						.origin = ORIGIN_GONE,
						.no_defaults = true,
						.refs = NO_REF,
						.last_ref = NO_REF,
						.edges_out = NO_EDGE,
						.edges_in = NO_EDGE };
}

/* Where it goes: the place that it had before, or the next one; NULL when there is none. */
static struct unit *find_place(struct units *units, struct slice name)
{
	uint16_t at = units->before ? units_find_name(units->before, name) : NO_NAME;

	for (; at != NO_NAME; at = units->before->names[at].next_same) {
		struct unit *unit = &units->unit[units->before->names[at].unit];

		if (unit->origin == ORIGIN_GONE && unit->name && slice_is(name, unit->name))
			return unit;
	}
	return units->n_units + units->n_later < MAX_UNITS ? &units->unit[units->n_units++] : NULL;
}

void units_mix(struct unit *unit, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		unit->fingerprint = (unit->fingerprint ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
}

struct unit *units_add(struct units *units, enum origin origin, struct slice name, const char *path)
{
	const char *text, *where;
	struct unit *unit;

	if (!is_name(name)) {
		units_complain(units, path, 0, "\"%.*s\" is no name for a unit: 1 to %d printable characters, no blank, no /",
			       (int)(name.size < UNIT_NAME_MAX ? name.size : UNIT_NAME_MAX), name.at, UNIT_NAME_MAX);
		return NULL;
	}
	text = arena_text(&units->arena, name.at, name.size);
	where = arena_text(&units->arena, path, strlen(path));
	unit = text && where ? find_place(units, name) : NULL;
	if (!unit) {
		units->n_left_out++;
		units_complain(units, path, 0, "no room for more than %d units, and %d bytes of their texts: it is left out",
			       MAX_UNITS, ARENA_BYTES);
		return NULL;
	}
	*unit = (struct unit){
		.name = text,
		.path = where,
		.origin = origin,
		.first_command = (uint32_t)units->n_commands,
		.first_socket = (uint16_t)units->n_sockets,
		.refs = NO_REF,
		.last_ref = NO_REF,
		.edges_out = NO_EDGE,
		.edges_in = NO_EDGE,
		.start_timeout_ns = START_TIMEOUT_S * NS_PER_S,
		.stop_timeout_ns = STOP_TIMEOUT_S * NS_PER_S,
		.restart_delay_ns = NS_PER_S / 10,
		.ready_fd = -1,
		.umask = 022,
	};
	units_name(units, unit, name, 0);
	return unit;
}

unit_id units_id(const struct units *units, const struct unit *unit)
{
	return (unit_id)(unit - units->unit);
}

static uint32_t hash_of(struct slice name)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < name.size; i++)
		hash = (hash ^ (unsigned char)name.at[i]) * 16777619u;
	return hash;
}

static uint16_t find_hashed(const struct units *units, struct slice name, uint32_t hash)
{
	uint16_t at = (uint16_t)(units->buckets[hash % BUCKETS] - 1);

	while (at != NO_NAME && (units->names[at].hash != hash || !slice_is(name, units->names[at].text)))
		at = units->names[at].next_in_bucket;
	return at;
}

uint16_t units_find_name(const struct units *units, struct slice name)
{
	return find_hashed(units, name, hash_of(name));
}

void units_name(struct units *units, struct unit *unit, struct slice name, unsigned line)
{
	uint32_t hash = hash_of(name);
	uint16_t first = find_hashed(units, name, hash), added = (uint16_t)units->n_names;
	unit_id id = units_id(units, unit);
	const char *text;

	if (!is_name(name)) {
		units_complain(units, unit->path, line, "\"%.*s\" is no name for a unit",
			       (int)(name.size < UNIT_NAME_MAX ? name.size : UNIT_NAME_MAX), name.at);
		return;
	}
	for (uint16_t at = first; at != NO_NAME; at = units->names[at].next_same)
		if (units->names[at].unit == id)
			return;
	text = first != NO_NAME ? units->names[first].text : arena_text(&units->arena, name.at, name.size);
	if (units->n_names == MAX_NAMES || !text) {
		units_full(units, unit, line, "names", MAX_NAMES);
		return;
	}
	units->names[units->n_names++] = (struct name){
		.text = text, .hash = hash, .unit = id, .next_in_bucket = NO_NAME, .next_same = NO_NAME, .last_same = added
	};
	if (first != NO_NAME) {
		units->names[units->names[first].last_same].next_same = added;
		units->names[first].last_same = added;
	} else {
		units->names[added].next_in_bucket = (uint16_t)(units->buckets[hash % BUCKETS] - 1);
		units->buckets[hash % BUCKETS] = (uint16_t)(added + 1);
	}
}

unit_id units_find_next(const struct units *units, struct slice name, uint16_t *cursor)
{
	uint16_t at = *cursor == NO_NAME ? units_find_name(units, name) : units->names[*cursor].next_same;

	if (at == NO_NAME)
		return NO_UNIT;
	*cursor = at;
	return units->names[at].unit;
}

unit_id units_find(const struct units *units, struct slice name)
{
	uint16_t cursor = NO_NAME;

	return units_find_next(units, name, &cursor);
}

bool units_refer(struct units *units, struct unit *unit, struct slice name, struct ref how)
{
	const char *text = arena_text(&units->arena, name.at, name.size);

	if (units->n_refs == MAX_REFS || !text) {
		units_full(units, unit, how.line, "dependencies", MAX_REFS);
		return false;
	}
	how.name = text;
	how.from = units_id(units, unit);
	how.next = NO_REF;
	*(unit->last_ref == NO_REF ? &unit->refs : &units->refs[unit->last_ref].next) = (ref_id)units->n_refs;
	unit->last_ref = (ref_id)units->n_refs;
	units->refs[units->n_refs++] = how;
	return true;
}

const char *const *units_words(struct units *units, const char *const *words, size_t n_words)
{
	const char **copy = arena_take(&units->arena, (n_words + 1) * sizeof *copy);

	if (!copy)
		return NULL;
	memcpy(copy, words, n_words * sizeof *copy);
	copy[n_words] = NULL;
	return copy;
}

bool units_command(struct units *units, struct unit *unit, enum phase phase, const char *const *words, size_t n_words,
		   bool may_fail, unsigned line)
{
	const char *const *argv = units_words(units, words, n_words);

	if (units->n_commands == MAX_COMMANDS || !argv) {
		units_full(units, unit, line, "commands", MAX_COMMANDS);
		return false;
	}
	units->commands[units->n_commands++] = (struct command){
		.argv = argv, .phase = (uint8_t)phase, .may_fail = may_fail, .line = (uint16_t)line
	};
	unit->n_commands++;
	return true;
}

struct command *units_last_command(struct units *units)
{
	return &units->commands[units->n_commands - 1];
}

void units_forget_commands(struct units *units, struct unit *unit, enum phase phase)
{
	uint32_t kept = unit->first_command;

	for (uint32_t i = unit->first_command; i < unit->first_command + unit->n_commands; i++)
		if (units->commands[i].phase != phase)
			units->commands[kept++] = units->commands[i];
	unit->n_commands = (uint16_t)(kept - unit->first_command);
	units->n_commands = kept;
}

bool units_socket(struct units *units, struct unit *unit, const struct socket_address *address)
{
	if (units->n_sockets == MAX_SOCKETS) {
		units_full(units, unit, 0, "sockets", MAX_SOCKETS);
		return false;
	}
	units->sockets[units->n_sockets++] = *address;
	unit->n_sockets++;
	return true;
}

const char *origin_name(enum origin origin)
{
	static const char *const NAMES[] = { "unit", "lsb", "systemd", "builtin", "facility", "gone" };

	return NAMES[origin];
}
