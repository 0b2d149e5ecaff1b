/* SPDX-License-Identifier: MIT */
/*
 * What a unit costs PID 1 must not grow with their number: graphs of units without processes are read, resolved, started and
 * stopped, 500 and 10,000 of them. With a number on the command line, one graph of so many and nothing else: for counting its
 * instructions (valgrind --tool=cachegrind).
 */
#include <time.h>

#include "check.h"
#include "dice.h"
#include "state/account.h"
#include "state/log.h"
#include "state/runs.h"
#include "supervision/pressure.h"
#include "supervision/supervise.h"
#include "units/config.h"
#include "units/graph.h"
#include "units/unit_file.h"

enum { FEW = 500, MANY = 10000, NEEDED = 3, LAYERS = 2000, TIMES_MOST = 4 };

static struct config config;

static int64_t used_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * 1000000000 + used.tv_nsec;
}

static void add(const char *name, const char *text)
{
	CHECK(unit_file_parse(&units, slice_of(name), name, text, strlen(text)));
}

static void resolve(void)
{
	graph_resolve(&units, &(struct graph_options){ .goals = NULL });
	CHECK(!*complaints);
	supervise_init(&units, &config);
}

/* "WORDnumber\n" behind what is there: what makes the texts should cost little beside what reads them. */
static size_t put(char *text, size_t at, const char *word, unsigned number)
{
	char digits[10];
	size_t n = 0;

	memcpy(text + at, word, strlen(word));
	at += strlen(word);
	do
		digits[n++] = (char)('0' + number % 10);
	while (number /= 10);
	while (n > 0)
		text[at++] = digits[--n];
	text[at] = '\0';
	return at;
}

/* ns a unit. Each needs some before it; one waits for all. */
static int64_t cost_of(unsigned n)
{
	static char all[MANY * 16];
	size_t used = 0;
	int64_t began_ns;

	begin();
	account_begin(0);
	began_ns = used_ns();
	for (unsigned i = 0; i < n; i++) {
		char name[16], text[128] = "wants base";
		size_t size = strlen(text);

		put(name, 0, "u", i);
		for (unsigned j = 0; i > 0 && j < NEEDED; j++)
			size = put(text, size, "\nneeds u", below(i));
		add(name, text);
	}
	for (unsigned i = 0; i < n; i++)
		used = put(all, used, i ? "\nwants u" : "wants u", i);
	add("base", "wants nobody\n");
	add("last", all);
	resolve();
	supervise_boot();
	supervise_schedule(1);
	CHECK(runs_count(STATE_UP) == n + 2);
	supervise_restart(slice_of("base"));
	supervise_schedule(1);
	supervise_restart(slice_of("u0"));
	supervise_schedule(1);
	CHECK(runs_count(STATE_UP) == n + 2);
	supervise_stop_all();
	supervise_schedule(1);
	CHECK(supervise_all_down());
	return (used_ns() - began_ns) / n;
}

/* Two units a layer, each of which needs both of the layer below; the lowest need what cannot be started. */
static void test_a_broken_lattice_is_looked_at_once(void)
{
	begin();
	add("broken", "exec relative\n");
	complaints[0] = '\0';
	for (unsigned i = 0; i < LAYERS; i++)
		for (unsigned side = 0; side < 2; side++) {
			char name[16], text[64];

			snprintf(name, sizeof name, "u%u-%u", i, side);
			if (i == 0)
				snprintf(text, sizeof text, "needs broken\nenable no\n");
			else
				snprintf(text, sizeof text, "needs u%u-0 u%u-1\nenable no\n", i - 1, i - 1);
			add(name, text);
		}
	resolve();
	for (unsigned i = 0; i < 3; i++) {
		char name[16];

		snprintf(name, sizeof name, "u%u-0", LAYERS - 1);
		CHECK(supervise_start(slice_of(name)) == 0);
		supervise_schedule(1);
		CHECK(runs[units_find(&units, slice_of(name))].state == STATE_BLOCKED);
	}
}

int main(int argc, char **argv)
{
	int64_t few_ns, many_ns;

	config_init(&config);
	log_init(-1, true);
	places_init(2, 4);
	if (argc > 1) {
		cost_of((unsigned)atoi(argv[1]));
		return 0;
	}
	cost_of(FEW); /* pages of the tables */
	few_ns = cost_of(FEW);
	cost_of(MANY);
	many_ns = cost_of(MANY);
	if (many_ns > TIMES_MOST * few_ns)
		fprintf(stderr, "%lld ns a unit of %d, %lld of %d\n", (long long)few_ns, FEW, (long long)many_ns, MANY);
	CHECK(many_ns <= TIMES_MOST * few_ns);
	test_a_broken_lattice_is_looked_at_once();
	puts("test_scale: ok");
	return 0;
}
