/* SPDX-License-Identifier: MIT */
/* Reads all files of a system, and puts what they say in the place of what they said before. */
#include "reload.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "boot/builtin.h"
#include "process/child.h"
#include "process/loop.h"
#include "shared/clock.h"
#include "shared/files.h"
#include "shared/large.h"
#include "shared/own.h"
#include "shared/print.h"
#include "state/log.h"
#include "state/runs.h"
#include "supervision/supervise.h"
#include "units/copy.h"
#include "units/graph.h"
#include "units/load.h"

/* Ten thousand units take a second on the slowest of machines. */
enum { READ_S = 30, SAID_BYTES = 1 << 18 };

/* More than init.conf and the command line can fill: a word and its pointer take sixteen bytes, and two of the file. */
enum { WORDS_BYTES = 9 * FILE_BYTES };

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

static void resolve(struct units *units, bool network_file_systems)
{
	struct graph_options options = { .goals = config->n_goals > 0 ? config->goals : NULL,
					 .network_file_systems = network_file_systems };

	graph_resolve(units, &options);
	if (units->n_left_out > 0)
		log_say(LOG_FAILURE, "%u times there was no room for what unit files say: see above", units->n_left_out);
}

struct units *reload_first(struct config *ret_config)
{
	/* What init.conf says is of the whole boot, and so are its words: they stay where they are, and built-in units' processes have them. */
	LARGE static char words[WORDS_BYTES];
	struct units *settings = own_map(sizeof *settings, false);

	current = own_map(sizeof *current, false);
	/* Without them there is nothing to be done: on-crash says what then. */
	if (!settings || !current)
		__builtin_trap();
	units_init(settings, complain, NULL);
	settings->arena = (struct arena){ .bytes = words, .size = sizeof words };
	load_config(settings, ret_config, "");
	config_environment(ret_config, settings, environ);
	config = ret_config;
	own_unmap(settings);
	units_init(current, complain, NULL);
	read_files(current);
	resolve(current, load_has_network_file_systems(current, ""));
	return current;
}

static bool is_running(unit_id id)
{
	enum state state = runs[id].state;

	return state == STATE_STARTING || state == STATE_UP || state == STATE_STOPPING;
}

/* It is something, or will be, without anybody's asking again. */
static bool is_at_work(unit_id id)
{
	enum state state = runs[id].state;

	return is_running(id) || state == STATE_WAITING || state == STATE_ELIGIBLE || state == STATE_BACKOFF;
}

/* Instances that were asked for by name are named by no file. */
static void load_instances(struct units *units, struct slice name)
{
	if (name.size > 0)
		load_instance(units, config, "", name);
	for (size_t i = 0; i < current->n_units; i++)
		if (units->unit[i].origin == ORIGIN_GONE && is_at_work((unit_id)i) && strchr(current->unit[i].name, '@'))
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

/*
 * A reading of all files. It is done by a process of its own, in memory that both have at the same place: so every pointer in it holds here,
 * too, and a disk that hangs holds up that process alone. It is not touched here before that one has ended, and not at all when it has to be
 * given up: should it write on some day, it writes to pages that are only its own by then.
 */
struct reading {
	struct units units; /* first: it is given back by its address */
	bool network_file_systems;
	unsigned n_unsaid;
	size_t said_size;
	char said[SAID_BYTES]; /* lines for the log */
};

static struct reading *reading;
static pid_t reader; /* 0: it has ended */
static int reader_status;
static int64_t deadline_ns;

static void note(void *context, const char *path, unsigned line, const char *message)
{
	struct reading *into = context;
	size_t room = sizeof into->said - into->said_size;
	int size = line > 0 ? print(into->said + into->said_size, room, "%s:%u: %s\n", path, line, message) :
			      print(into->said + into->said_size, room, "%s: %s\n", path, message);

	if ((size_t)size < room)
		into->said_size += (size_t)size;
	else
		into->n_unsaid++;
}

static void say_what_was_noted(void)
{
	struct lines lines = lines_of(reading->said, reading->said_size);
	struct slice line;

	while (line_next(&lines, &line))
		log_say(LOG_FAILURE, "%.*s", (int)line.size, line.at);
	if (reading->n_unsaid > 0)
		log_say(LOG_FAILURE, "and %u more: there was no room for them", reading->n_unsaid);
}

__attribute__((noreturn))
static void read_in_child(struct slice name)
{
	setsid();
	loop_become_child();
	/* What reads others' pipes besides PID 1 would keep their writers waiting. */
	child_close_others(NULL, 0);
	read_files(&reading->units);
	load_instances(&reading->units, name);
	reading->network_file_systems = load_has_network_file_systems(&reading->units, "");
	_exit(0);
}

int reload_begin(struct slice name)
{
	if (runs_ending || !current)
		return -ESHUTDOWN;
	reading = own_map(sizeof *reading, true);
	if (!reading)
		return -ENOMEM;
	units_init(&reading->units, note, reading);
	units_succeed(&reading->units, current);
	reader = own_fork();
	if (reader == 0)
		read_in_child(name);
	if (reader < 0) {
		int r = -errno;

		own_unmap(reading);
		reading = NULL;
		return r;
	}
	deadline_ns = clock_awake_ns() + READ_S * NS_PER_S;
	return 0;
}

void reload_reaped(pid_t pid, int status)
{
	if (!reading || pid != reader)
		return;
	reader = 0;
	reader_status = status;
}

/* All is read: 0, or -errno. */
static int take_over(char *ret_said, size_t size)
{
	struct units *units = &reading->units, *before = current;
	struct tally tally = { .n_new = 0 };

	if (runs_ending)
		return -ESHUTDOWN;
	say_what_was_noted();
	if (reader_status != 0) {
		log_say(LOG_FAILURE, "the process that reads unit files ended with wait status %d", reader_status);
		return -EIO;
	}
	units->complain = complain;
	/* What could not be read is not gone. */
	if (units->n_unreadable > 0)
		return -EIO;
	if (!carry(units, &tally))
		return -ENOSPC;
	resolve(units, reading->network_file_systems);
	supervise_succeed(units);
	current = units;
	units->before = NULL;
	own_unmap(before);
	print(ret_said, size, "%u new, %u changed (%u of them run on as they were), %u gone (%u of them run on), %u problems%s\n",
	      tally.n_new, tally.n_changed, tally.n_running, tally.n_gone, tally.n_still_there, units->n_complaints,
	      units->n_complaints > 0 ? ": see bootlab-ctl log" : "");
	return 0;
}

int reload_end(int64_t now_ns, int64_t *ret_until_ns, char *ret_said, size_t size)
{
	int r = -ETIMEDOUT;

	*ret_until_ns = deadline_ns;
	if (reader > 0 && now_ns < deadline_ns)
		return -EINPROGRESS;
	/* It ends when its disk lets it. */
	if (reader > 0)
		kill(reader, SIGKILL);
	else
		r = take_over(ret_said, size);
	if (r)
		own_unmap(reading);
	reading = NULL;
	return r;
}
