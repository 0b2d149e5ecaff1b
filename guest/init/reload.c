/* SPDX-License-Identifier: MIT */
/* Reads all files of a system, and puts what they say in the place of what they said before. */
#include "reload.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "boot/builtin.h"
#include "shared/own.h"
#include "shared/print.h"
#include "state/log.h"
#include "state/runs.h"
#include "supervision/supervise.h"
#include "units/copy.h"
#include "units/graph.h"
#include "units/load.h"

static struct units *current;
static const struct config *config;

static void complain(void *context, const char *path, unsigned line, const char *message)
{
	(void)context;
	if (line > 0)
		log_say(LOG_FAILURE, "%s:%u: %s", path, line, message);
	else
		log_say(LOG_FAILURE, "%s: %s", path, message);
}

static void read_files(struct units *units)
{
	builtin_add(units, config, "");
	load_units(units, config, "");
}

static void resolve(struct units *units)
{
	struct graph_options options = { .goals = config->n_goals > 0 ? config->goals : NULL,
					 .network_file_systems = load_has_network_file_systems(units, "") };

	graph_resolve(units, &options);
	if (units->n_left_out > 0)
		log_say(LOG_FAILURE, "%u times there was no room for what unit files say: see above", units->n_left_out);
}

struct units *reload_first(struct config *ret_config)
{
	/* What init.conf says is of the whole boot, and so are its words: they stay where they are. */
	struct units *settings = own_map(sizeof *settings);

	current = own_map(sizeof *current);
	/* Without them there is nothing to be done: on-crash says what then. */
	if (!settings || !current)
		__builtin_trap();
	units_init(settings, complain, NULL);
	load_config(settings, ret_config, "");
	config_environment(ret_config, settings, environ);
	config = ret_config;
	units_init(current, complain, NULL);
	read_files(current);
	resolve(current);
	return current;
}

static bool is_running(unit_id id)
{
	enum state state = runs[id].state;

	return state == STATE_STARTING || state == STATE_UP || state == STATE_STOPPING;
}

/* Instances that were asked for by name are named by no file. */
static void load_instances(struct units *units, struct slice name)
{
	if (name.size > 0)
		load_instance(units, config, "", name);
	for (size_t i = 0; i < current->n_units; i++)
		if (units->unit[i].origin == ORIGIN_GONE && is_running((unit_id)i) && strchr(current->unit[i].name, '@'))
			load_instance(units, config, "", slice_of(current->unit[i].name));
}

struct tally {
	unsigned n_new, n_changed, n_running, n_gone, n_still_there;
};

/* What runs goes on as it is. False when there is no room for that. */
static bool carry(struct units *units, struct tally *ret)
{
	for (size_t i = 0; i < current->n_units; i++) {
		const struct unit *was = &current->unit[i], *unit = &units->unit[i];
		bool is_gone = unit->origin == ORIGIN_GONE, runs_on = is_running((unit_id)i);
		bool has_changed = !is_gone && (unit->fingerprint != was->fingerprint || unit->origin != was->origin);

		if (was->origin == ORIGIN_GONE || was->origin == ORIGIN_FACILITY || was->origin == ORIGIN_BUILTIN)
			continue;
		ret->n_changed += has_changed && was->on_disk != DISK_CHANGED;
		/* A group of others has nothing that could go on. */
		if ((!has_changed && !is_gone) || !runs_on || (!is_gone && was->n_commands == 0 && unit->n_commands == 0)) {
			ret->n_gone += is_gone;
			continue;
		}
		ret->n_running += has_changed;
		ret->n_still_there += is_gone;
		ret->n_gone += is_gone;
		if (!copy_carry(units, (unit_id)i))
			return false;
	}
	for (size_t i = 0; i < units->n_units; i++)
		ret->n_new += i >= current->n_units || (current->unit[i].origin == ORIGIN_GONE && units->unit[i].origin != ORIGIN_GONE);
	return true;
}

int reload_units(struct slice name, char *ret_said, size_t size)
{
	struct units *units, *before = current;
	struct tally tally = { .n_new = 0 };

	if (runs_ending || !current)
		return -ESHUTDOWN;
	units = own_map(sizeof *units);
	if (!units)
		return -ENOMEM;
	units_init(units, complain, NULL);
	units_succeed(units, current);
	read_files(units);
	load_instances(units, name);
	/* What could not be read is not gone. */
	if (units->n_unreadable > 0 || !carry(units, &tally)) {
		int r = units->n_unreadable > 0 ? -EIO : -ENOSPC;

		own_unmap(units);
		return r;
	}
	resolve(units);
	supervise_succeed(units);
	current = units;
	units->before = NULL;
	own_unmap(before);
	print(ret_said, size, "%u new, %u changed (%u of them run on as they were), %u gone (%u of them run on), %u problems%s\n",
	      tally.n_new, tally.n_changed, tally.n_running, tally.n_gone, tally.n_still_there, units->n_complaints,
	      units->n_complaints > 0 ? ": see bootlab-ctl log" : "");
	return 0;
}
