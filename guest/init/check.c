/* SPDX-License-Identifier: MIT */
/*
 * bootlab-init-check DIR [GOAL]...: read the units of the system whose root is DIR as bootlab-init would, and print
 * what it made of them; nothing is started. Goals take the place of the system's own, as bootlab_goal= does. Runs on
 * the host; bootlab/build/units/plan.py reads what it prints:
 *
 *   unit ID ORIGIN FLAGS HEIGHT NAME PATH     FLAGS of e(nabled) w(anted) g(oal) b(roken), or -
 *   command ID PHASE WORD...                  every byte that is no printable ASCII, and %, as %XX
 *   edge FROM TO RELATION WHEN LINE           FROM waits for TO; WHEN: 1 at start, 2 at stop, 3 both
 *   problem PATH LINE MESSAGE                 LINE 0: the whole file
 *
 * parted by tabs. Exit status 0; 2 when DIR cannot be read.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "boot/builtin.h"
#include "shared/files.h"
#include "units/config.h"
#include "units/graph.h"
#include "units/load.h"

static struct units units;
static struct config config;

static void print_word(const char *word)
{
	for (; *word; word++)
		printf(*word > ' ' && *word < 0x7f && *word != '%' ? "%c" : "%%%02X", (unsigned char)*word);
}

static void complain(void *context, const char *path, unsigned line, const char *message)
{
	(void)context;
	printf("problem\t");
	print_word(path);
	printf("\t%u\t", line);
	print_word(message);
	printf("\n");
}

static void print_unit(const struct unit *unit)
{
	static const char *const PHASES[] = { "pre", "start", "post", "stop", "", "reload" };
	unsigned id = units_id(&units, unit);

	printf("unit\t%u\t%s\t%s%s%s%s%s\t%u\t", id, origin_name(unit->origin), unit->enabled ? "e" : "",
	       unit->wanted ? "w" : "", unit->goal ? "g" : "", unit->broken ? "b" : "",
	       unit->enabled || unit->wanted || unit->goal || unit->broken ? "" : "-", unit->height);
	print_word(unit->name);
	printf("\t");
	print_word(unit->path);
	printf("\n");
	for (unsigned i = 0; i < unit->n_commands; i++) {
		const struct command *command = &units.commands[unit->first_command + i];

		printf("command\t%u\t%s", id, PHASES[command->phase]);
		for (const char *const *word = command->argv; *word; word++) {
			printf("\t");
			print_word(*word);
		}
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	static const char *const RELATIONS[] = { "needs", "wants", "after", "member", "pulls" };
	struct graph_options options = { .goals = NULL };
	const char *root;

	if (argc < 2 || argc > 2 + MAX_GOALS || argv[1][0] == '-') {
		fprintf(stderr, "usage: bootlab-init-check DIR [GOAL]...\n");
		return 2;
	}
	root = strcmp(argv[1], "/") ? argv[1] : "";
	if (*root && !file_exists(root)) {
		fprintf(stderr, "bootlab-init-check: %s: %s\n", root, strerror(errno));
		return 2;
	}
	units_init(&units, complain, NULL);
	load_config(&units, &config, root);
	if (argc > 2) {
		config.n_goals = 0;
		for (int i = 2; i < argc; i++)
			config.goals[config.n_goals++] = argv[i];
		config.goals[config.n_goals] = NULL;
	}
	builtin_add(&units, &config, root);
	load_units(&units, &config, root);
	options.goals = config.n_goals > 0 ? config.goals : NULL;
	options.network_file_systems = load_has_network_file_systems(&units, root);
	graph_resolve(&units, &options);
	load_check_times(&units, &config);
	for (size_t i = 0; i < units.n_units; i++)
		print_unit(&units.unit[i]);
	for (size_t i = 0; i < units.n_edges; i++) {
		const struct edge *edge = &units.edges[i];

		if (!edge->dropped)
			printf("edge\t%u\t%u\t%s\t%u\t%u\n", edge->from, edge->to, RELATIONS[edge->relation], edge->when,
			       edge->line);
	}
	return fflush(stdout) ? 2 : 0;
}
