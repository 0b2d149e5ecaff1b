/* SPDX-License-Identifier: MIT */
/*
 * Files read anew, at random, while units run: a unit keeps its number; what runs stays what it was, commands, sockets and texts, and becomes
 * what its file says when it is down; nothing of it is where the first reading was.
 */
#include <stdlib.h>

#include "check.h"
#include "dice.h"
#include "shared/own.h"
#include "state/account.h"
#include "state/log.h"
#include "state/runs.h"
#include "supervision/lifecycle.h"
#include "supervision/pressure.h"
#include "supervision/supervise.h"
#include "units/conditions.h"
#include "units/copy.h"
#include "units/graph.h"
#include "units/unit_file.h"

enum { NAMES = 12, ROUNDS = 400, NO_FILE = 0 };

static struct config config;

/* What each file says, by a number in its command; and what each unit runs as. */
static unsigned said[NAMES], runs_as[NAMES];

static void read_all(struct units *all)
{
	for (unsigned i = 0; i < NAMES; i++) {
		char name[16], text[200];

		if (said[i] == NO_FILE)
			continue;
		snprintf(name, sizeof name, "u%u", i);
		snprintf(text, sizeof text, "exec /bin/x %u\nenv A=%u\nafter u%u\nlisten unix /run/%u\ncondition path /%u\nmark m%u\n", said[i],
			 said[i], (i + said[i]) % NAMES, i, said[i], said[i]);
		CHECK(unit_file_parse(all, slice_of(name), name, text, strlen(text)));
	}
}

static bool is_running(unit_id id)
{
	return runs[id].state == STATE_UP || runs[id].state == STATE_STARTING || runs[id].state == STATE_STOPPING;
}

static void check_all(const struct units *all)
{
	for (unsigned i = 0; i < NAMES; i++) {
		char name[16];
		unit_id id;

		snprintf(name, sizeof name, "u%u", i);
		id = units_find(all, slice_of(name));
		if (id == NO_UNIT) {
			CHECK(said[i] == NO_FILE);
			continue;
		}
		const struct unit *unit = &all->unit[id];
		unsigned wanted = is_running(id) ? runs_as[i] : said[i];
		const struct command *command = &all->commands[unit->first_command];
		char number[16];

		snprintf(number, sizeof number, "%u", wanted);
		CHECK(!strcmp(unit->name, name) && (wanted != NO_FILE || unit->on_disk == DISK_GONE));
		if (unit->on_disk == DISK_GONE) {
			CHECK(said[i] == NO_FILE && unit->broken);
			continue;
		}
		CHECK(unit->n_commands == 1 && !strcmp(command->argv[1], number) && !strcmp(unit->environment[0] + 2, number));
		CHECK(!strcmp(unit->conditions->said + strlen("path /"), number) && !strcmp(unit->mark + 1, number));
		CHECK(unit->n_sockets == 1 && !strncmp(all->sockets[unit->first_socket].text, "unix /run/", 10));
		CHECK((unit->on_disk == DISK_CHANGED) == (wanted != said[i]));
	}
}

static unsigned number_of(const char *name)
{
	return (unsigned)atoi(name + 1);
}

int main(void)
{
	struct units *before = own_map(sizeof *before, false);

	config_init(&config);
	log_init(-1, true);
	places_init(2, 4);
	account_begin(0);
	for (unsigned i = 0; i < NAMES; i++)
		said[i] = 1 + below(3);
	units_init(before, keep_complaint, NULL);
	read_all(before);
	graph_resolve(before, &(struct graph_options){ .goals = NULL });
	supervise_init(before, &config);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct units *after = own_map(sizeof *after, true);

		complaints[0] = '\0';
		for (unsigned i = 0; i < NAMES; i++)
			if (below(4) == 0)
				said[i] = below(4);
		/* Some begin to run, some are down: as what counted for them then. */
		for (size_t i = 0; i < before->n_units; i++) {
			unit_id id = (unit_id)i;

			if (before->unit[i].origin == ORIGIN_GONE || before->unit[i].origin == ORIGIN_BUILTIN)
				continue;
			if (!is_running(id) && !before->unit[i].broken && below(3) == 0) {
				runs_enter(id, STATE_UP);
				runs_as[number_of(before->unit[i].name)] = (unsigned)atoi(before->commands[before->unit[i].first_command].argv[1]);
			} else if (is_running(id) && below(3) == 0) {
				lifecycle_stop(id, STATE_OFF);
				CHECK(!is_running(id) && before->unit[i].on_disk != DISK_CHANGED);
			}
		}
		units_init(after, keep_complaint, NULL);
		units_succeed(after, before);
		read_all(after);
		for (size_t i = 0; i < before->n_units; i++)
			if (is_running((unit_id)i) && (after->unit[i].origin == ORIGIN_GONE || after->unit[i].fingerprint != before->unit[i].fingerprint))
				CHECK(copy_carry(after, (unit_id)i));
		graph_resolve(after, &(struct graph_options){ .goals = NULL });
		for (size_t i = 0; i < before->n_units; i++)
			CHECK(!strcmp(before->unit[i].name, after->unit[i].name));
		supervise_succeed(after);
		/* Nothing may still be there. */
		memset(before, 0x5a, 1 << 16);
		own_unmap(before);
		after->before = NULL;
		before = after;
		check_all(before);
		supervise_schedule(1);
	}
	puts("test_succeed: ok");
	return 0;
}
