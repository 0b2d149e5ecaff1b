/* SPDX-License-Identifier: MIT */
/* Writes what bootlab-ctl asks for: states, the reason for one, a chart of the boot, the log, the account. */
#include "report.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>

#include "shared/clock.h"
#include "shared/own.h"
#include "shared/print.h"
#include "state/account.h"
#include "state/log.h"
#include "state/runs.h"
#include "supervision/goal.h"
#include "supervision/pressure.h"

enum { CHART_COLUMNS = 60, NAME_COLUMNS = 24 };

/* Only ever used in a fork. */
enum { TEXT_BYTES = 1 << 22, ACCOUNT_BYTES = 1 << 22 };
static char *text;
static size_t used;
static bool is_cut;

__attribute__((format(printf, 1, 2)))
static void add(const char *format, ...)
{
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = print_list(text + used, TEXT_BYTES - used, format, arguments);
	va_end(arguments);
	if (size > 0 && used + (size_t)size < TEXT_BYTES)
		used += (size_t)size;
	else
		is_cut = true;
}

static int send_all(int fd)
{
	static const char CUT[] = "(cut short: there is no room for more)\n";
	size_t at = 0;

	if (is_cut && used + sizeof CUT <= TEXT_BYTES)
		used += (size_t)print(text + used, TEXT_BYTES - used, "%s", CUT);
	while (at < used) {
		ssize_t sent = send(fd, text + at, used - at, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return -errno;
		at += (size_t)sent;
	}
	return 0;
}

static bool is_shown(const struct units *units, size_t i)
{
	return units->unit[i].origin != ORIGIN_FACILITY && units->unit[i].origin != ORIGIN_GONE &&
	       (units->unit[i].wanted || runs[i].state != STATE_OFF || *runs[i].why);
}

static const char *const ON_DISK[] = { "same", "changed on disk", "its file is gone" };

static int write_status(int fd, struct slice name)
{
	const struct units *units = runs_units();
	int64_t now_ns = clock_awake_ns();

	(void)name;
	for (size_t i = 0; i < units->n_units; i++) {
		const struct run *run = &runs[i];

		if (!is_shown(units, i))
			continue;
		add("%-*s %-8s %7lld s", NAME_COLUMNS, units->unit[i].name, runs_state_name(run->state),
		    (long long)((now_ns - run->since_ns) / NS_PER_S));
		if (run->main > 0)
			add("  pid %d", (int)run->main);
		if (run->state == STATE_UP && run->phase == PHASE_LISTEN)
			add("  listens");
		if (run->connections > 0)
			add(", %u connections of %u", run->connections, units->unit[i].each_connection);
		if (run->restarts > 0)
			add("  %u restarts", run->restarts);
		if (*run->why && run->state != STATE_UP)
			add("  %s", run->why);
		if (units->unit[i].on_disk != DISK_SAME)
			add("  %s", ON_DISK[units->unit[i].on_disk]);
		add("\n");
	}
	return send_all(fd);
}

static void add_json(const char *name, const char *value)
{
	add(", \"%s\": ", name);
	if (!*value) {
		add("null");
		return;
	}
	add("\"");
	for (; *value; value++)
		if (*value == '"' || *value == '\\' || *value < ' ' || *value >= 0x7f)
			add("\\u%04x", (unsigned char)*value);
		else
			add("%c", *value);
	add("\"");
}

static int write_status_json(int fd, struct slice name)
{
	const struct units *units = runs_units();
	int64_t now_ns = clock_awake_ns();
	bool is_first = true;

	(void)name;
	add("{\"version\": 1, \"units\": [");
	for (size_t i = 0; i < units->n_units; i++) {
		const struct unit *unit = &units->unit[i];

		if (unit->origin == ORIGIN_FACILITY || unit->origin == ORIGIN_GONE)
			continue;
		add("%s\n  {\"at_boot\": %s, \"in_state_ns\": %lld, \"pid\": %d, \"restarts\": %u, \"connections\": %u", is_first ? "" : ",",
		    unit->wanted ? "true" : "false", (long long)(now_ns - runs[i].since_ns), (int)(runs[i].main > 0 ? runs[i].main : 0),
		    runs[i].restarts, runs[i].connections);
		is_first = false;
		add_json("name", unit->name);
		add_json("origin", origin_name(unit->origin));
		add_json("path", unit->path);
		add_json("on_disk", ON_DISK[unit->on_disk]);
		add_json("state", runs_state_name(runs[i].state));
		add_json("why", runs[i].state == STATE_UP ? "" : runs[i].why);
		add("}");
	}
	add("\n]}\n");
	if (is_cut) {
		used = 0;
		is_cut = false;
		add("error: there is no room for all units in one answer\n");
	}
	return send_all(fd);
}

static int write_names(int fd, struct slice name)
{
	const struct units *units = runs_units();

	(void)name;
	for (size_t i = 0; i < units->n_units; i++)
		if (units->unit[i].origin != ORIGIN_FACILITY && units->unit[i].origin != ORIGIN_GONE)
			add("%s\n", units->unit[i].name);
	return send_all(fd);
}

static int write_why(int fd, struct slice name)
{
	static const char *const RELATIONS[] = { "needs", "wants", "is after", "consists of", "brings" };
	const struct units *units = runs_units();
	unit_id id = units_find(units, name);

	if (id == NO_UNIT) {
		add("error: %.*s: no such unit; bootlab-ctl status lists them\n", (int)name.size, name.at);
		return send_all(fd);
	}
	add("%s (%s, %s) is %s%s%s\n", units->unit[id].name, origin_name(units->unit[id].origin), units->unit[id].path,
	    runs_state_name(runs[id].state), *runs[id].why ? ": " : "", runs[id].why);
	if (units->unit[id].on_disk == DISK_CHANGED)
		add("  its file has changed since it was started; a restart takes that up\n");
	if (units->unit[id].on_disk == DISK_GONE)
		add("  its file is gone: once it is stopped it is no unit any more\n");
	if (!units->unit[id].wanted)
		add("  it is not enabled, and nothing that is brings it along\n");
	if (*runs[id].last_line)
		add("  its last words: %s\n", runs[id].last_line);
	if (runs[id].state == STATE_ELIGIBLE && goal_pending() && !units->unit[id].goal)
		add("  it is not for the goal: it waits until the goal is reached%s\n",
		    units->unit[id].deferred ? "" : ", or the machine has nothing else to do");
	else if (runs[id].state == STATE_ELIGIBLE)
		add("  it waits for its turn: %u units are starting, in %u places\n", runs_count(STATE_STARTING),
		    places_now(0, 0));
	for (edge_id e = units->unit[id].edges_out; e != NO_EDGE; e = units->edges[e].next_of_from) {
		const struct edge *edge = &units->edges[e];

		if (edge->when & AT_START)
			add("  %s %s, which is %s (line %u)\n", RELATIONS[edge->relation], units->unit[edge->to].name,
			    runs_state_name(runs[edge->to].state), edge->line);
	}
	return send_all(fd);
}

struct bar {
	int64_t eligible_ns, spawn_ns, ready_ns, end_ns;
	uint64_t cpu_us;
};

/* The first start of each unit, out of the account. */
static void read_bars(const struct account_header *header, const struct account_record *records, struct bar *bars)
{
	for (uint32_t i = 0; i < header->n_records; i++) {
		const struct account_record *record = &records[i];
		struct bar *bar = &bars[record->unit];

		if (record->unit >= header->n_units)
			continue;
		if (record->kind == ACCOUNT_ELIGIBLE && bar->eligible_ns == 0)
			bar->eligible_ns = record->t_ns;
		if (record->kind == ACCOUNT_SPAWN && bar->spawn_ns == 0)
			bar->spawn_ns = record->t_ns;
		if (record->kind == ACCOUNT_READY && bar->ready_ns == 0)
			bar->ready_ns = record->t_ns;
		if (record->kind == ACCOUNT_FAILED && bar->end_ns == 0)
			bar->end_ns = record->t_ns;
		if (record->kind == ACCOUNT_EXIT)
			bar->cpu_us += record->value & UINT32_MAX;
	}
}

static void add_bar(const struct unit *unit, const struct bar *bar, int64_t begun_ns, int64_t length_ns)
{
	int64_t ready_ns = bar->ready_ns ? bar->ready_ns : bar->end_ns;
	char line[CHART_COLUMNS + 1];

	for (int column = 0; column < CHART_COLUMNS; column++) {
		int64_t from_ns = begun_ns + length_ns * column / CHART_COLUMNS;
		int64_t to_ns = begun_ns + length_ns * (column + 1) / CHART_COLUMNS;

		line[column] = ' ';
		if (bar->spawn_ns > 0 && to_ns > bar->eligible_ns && from_ns <= bar->spawn_ns)
			line[column] = '.';
		if (bar->spawn_ns > 0 && to_ns > bar->spawn_ns && (ready_ns == 0 || from_ns <= ready_ns))
			line[column] = bar->end_ns && !bar->ready_ns ? 'x' : '#';
	}
	line[CHART_COLUMNS] = '\0';
	add("%-*.*s |%s| %9.3f %9.3f %9.3f %c\n", NAME_COLUMNS, NAME_COLUMNS, unit->name, line,
	    (double)(bar->spawn_ns - begun_ns) / NS_PER_MS, ready_ns ? (double)(ready_ns - begun_ns) / NS_PER_MS : 0,
	    (double)bar->cpu_us / 1000, unit->goal ? '*' : ' ');
}

static int write_chart(int fd, struct slice name)
{
	char *account = own_take(ACCOUNT_BYTES);
	struct bar *bars = own_take(MAX_UNITS * sizeof *bars);
	const struct units *units = runs_units();
	const struct account_header *header = (const struct account_header *)account;
	int64_t begun_ns, end_ns = 0;

	(void)name;
	if (account_write(units, account, ACCOUNT_BYTES) == 0)
		return -ENOMEM;
	read_bars(header, (const struct account_record *)(account + sizeof *header + header->names_size), bars);
	begun_ns = header->begun_ns;
	for (size_t i = 0; i < units->n_units; i++)
		for (int j = 0; j < 2; j++) {
			int64_t t_ns = j ? bars[i].end_ns : bars[i].ready_ns;

			end_ns = t_ns > end_ns ? t_ns : end_ns;
		}
	add("%-*s  %-*s  %9s %9s %9s\n", NAME_COLUMNS, "unit", CHART_COLUMNS, ". waits for its turn  # starts  x fails  * goal",
	    "start/ms", "ready/ms", "cpu/ms");
	for (size_t i = 0; i < units->n_units; i++)
		if (bars[i].spawn_ns > 0)
			add_bar(&units->unit[i], &bars[i], begun_ns, end_ns > begun_ns ? end_ns - begun_ns : 1);
	if (header->goal_ns > 0)
		add("the goal after %.3f ms\n", (double)(header->goal_ns - begun_ns) / NS_PER_MS);
	return send_all(fd);
}

/* Of the lines in `text`: what the unit has written, and what PID 1 says of it first of all. Their size. */
static size_t keep_lines_of(struct slice name)
{
	struct lines lines = lines_of(text, used);
	struct slice line, rest, word;
	size_t kept = 0;

	while (line_next(&lines, &line)) {
		const char *bracket = memchr(line.at, ']', line.size);

		rest = slice_from(line, bracket ? (size_t)(bracket + 1 - line.at) : 0);
		if (!word_next(&rest, &word))
			continue;
		if (slice_ends(word, ":"))
			word.size--;
		if (word.size != name.size || memcmp(word.at, name.at, name.size) != 0)
			continue;
		memmove(text + kept, line.at, line.size);
		kept += line.size;
		text[kept++] = '\n';
	}
	return kept;
}

static int write_log(int fd, struct slice name)
{
	used = log_copy(text, TEXT_BYTES);
	if (name.size > 0 && units_find(runs_units(), name) == NO_UNIT) {
		used = 0;
		add("error: %.*s: no such unit; bootlab-ctl status lists them\n", (int)name.size, name.at);
		return send_all(fd);
	}
	if (name.size > 0)
		used = keep_lines_of(name);
	if (used == 0)
		add("nothing has been said yet\n");
	return send_all(fd);
}

static int write_account(int fd, struct slice name)
{
	(void)name;
	used = account_write(runs_units(), text, TEXT_BYTES);
	return used > 0 ? send_all(fd) : -ENOMEM;
}

report_fn *report_find(struct slice verb)
{
	static const struct {
		const char *verb;
		report_fn *write;
	} REPORTS[] = { { "status", write_status },
			{ "status-json", write_status_json },
			{ "names", write_names },
			{ "why", write_why },
			{ "chart", write_chart },
			{ "log", write_log },
			{ "account", write_account } };

	for (size_t i = 0; i < sizeof REPORTS / sizeof REPORTS[0]; i++)
		if (slice_is(verb, REPORTS[i].verb)) {
			OWN_TABLE(text, TEXT_BYTES);
			return REPORTS[i].write;
		}
	return NULL;
}
