/* SPDX-License-Identifier: MIT */
/* Makes a unit of a NAME.unit file, key by key. */
#include "unit_file.h"

#include <string.h>
#include <sys/resource.h>

#include "conditions.h"
#include "confinement.h"
#include "shared/large.h"
#include "signals.h"
#include "unit_settings.h"
#include "words.h"

enum { LINE_BYTES = 4096 };

struct reading {
	struct units *units;
	struct unit *unit;
	const char *path; /* of the file or drop-in that is being read */
	struct slice instance; /* of a template: what stands behind the @ */
	unsigned line;
	const char *key;
	bool readiness_given, is_group, is_reloaded;
	unsigned command_lines;
	struct environment_words environment;
};

static const char WRONG_COMMAND[] = "a command in its file is wrong";

typedef void key_fn(struct reading *reading, struct slice value, int argument);

static void wrong(struct reading *reading, const char *expected)
{
	units_complain(reading->units, reading->path, reading->line, "%s: expected %s", reading->key, expected);
}

static void expect(struct reading *reading, const char *expected)
{
	if (expected)
		wrong(reading, expected);
}

static const char *keep(struct reading *reading, struct slice value)
{
	const char *text = arena_text(&reading->units->arena, value.at, value.size);

	if (!text)
		wrong(reading, "less: there is no room for it");
	return text;
}

static void break_unit(struct unit *unit, const char *why)
{
	unit->broken = true;
	if (!unit->why_broken)
		unit->why_broken = why;
}

static void read_command(struct reading *reading, struct slice value, int phase)
{
	bool is_drop_in = reading->path != reading->unit->path;
	bool may_fail = slice_starts(value, "-");
	const char *words[MAX_WORDS];
	int n = words_parse(&reading->units->arena, may_fail ? slice_from(value, 1) : value, words, MAX_WORDS);

	/* A drop-in takes back what was said before. */
	if (is_drop_in && value.size == 0) {
		units_forget_commands(reading->units, reading->unit, (enum phase)phase);
		return;
	}
	if (n < 0) {
		units_complain(reading->units, reading->path, reading->line, "%s: %s", reading->key, words_error(n));
		break_unit(reading->unit, WRONG_COMMAND);
	} else if (n == 0 || words[0][0] != '/') {
		wrong(reading, "a program by its full path, then its arguments");
		break_unit(reading->unit, WRONG_COMMAND);
	} else {
		if (units_command(reading->units, reading->unit, (enum phase)phase, words, (size_t)n, may_fail, reading->line))
			units_last_command(reading->units)->path = is_drop_in ? reading->path : NULL;
	}
	reading->is_reloaded |= phase == PHASE_RELOAD;
	reading->command_lines += phase != PHASE_RELOAD;
}

static void read_names(struct reading *reading, struct slice value, int relation)
{
	struct ref how = { .line = (uint16_t)reading->line, .relation = (uint8_t)relation, .when = AT_START | AT_STOP };
	struct slice name;

	how.reversed = !strcmp(reading->key, "before");
	how.must_exist = how.binds = relation == RELATION_NEEDS;
	reading->is_group |= relation == RELATION_NEEDS || relation == RELATION_WANTS;
	while (word_next(&value, &name))
		if (slice_is(name, "$all") && !strcmp(reading->key, "after"))
			reading->unit->after_all = true; /* as a script has it; it is stopped like any other */
		else
			units_refer(reading->units, reading->unit, name, how);
}

static void read_provides(struct reading *reading, struct slice value, int argument)
{
	(void)argument;
	unit_names_add(reading->units, reading->unit, value, "", reading->line);
}

static void read_ready(struct reading *reading, struct slice value, int argument)
{
	static const char *const WORDS[] = { "exec", "exit", "fork", "pidfile", "notify" };
	struct slice word;
	int64_t number;

	(void)argument;
	reading->readiness_given = true;
	for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
		if (slice_is(value, WORDS[i])) {
			reading->unit->readiness = (enum readiness)i;
			return;
		}
	if (word_next(&value, &word) && slice_is(word, "fd") && !parse_number(slice_trim(value), 3, 255, &number)) {
		reading->unit->readiness = READY_FD;
		reading->unit->ready_fd = (int)number;
		return;
	}
	wrong(reading, "exec, exit, fork, pidfile, notify, or fd and a number from 3 to 255");
}

static void read_restart(struct reading *reading, struct slice value, int argument)
{
	static const char *const WORDS[] = { "no", "on-failure", "always" };

	(void)argument;
	for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
		if (slice_is(value, WORDS[i])) {
			reading->unit->restart = (enum restart)i;
			return;
		}
	wrong(reading, "no, on-failure or always");
}

static void read_output(struct reading *reading, struct slice value, int argument)
{
	static const char *const WORDS[] = { "log", "console", "null" };

	(void)argument;
	for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
		if (slice_is(value, WORDS[i])) {
			reading->unit->output = (enum output)i;
			return;
		}
	wrong(reading, "log, console or null");
}

static void read_kill(struct reading *reading, struct slice value, int argument)
{
	static const char *const WORDS[] = { "all", "mixed", "main" };

	(void)argument;
	for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
		if (slice_is(value, WORDS[i])) {
			reading->unit->kill_mode = (enum kill_mode)i;
			return;
		}
	wrong(reading, "all, mixed (SIGTERM to the main process, SIGKILL to all) or main");
}

static void read_duration(struct reading *reading, struct slice value, int argument)
{
	int64_t *const places[] = { &reading->unit->start_timeout_ns, &reading->unit->stop_timeout_ns,
				    &reading->unit->restart_delay_ns, &reading->unit->watchdog_ns };

	int64_t ns;

	if (argument == 2 && slice_is(value, "infinity")) {
		wrong(reading, "a time; a unit that is not to be started again says `restart no`");
		return;
	}
	if (parse_duration(value, &ns))
		wrong(reading, "a time such as 500ms, 1.5s, 2min or infinity");
	else
		*places[argument] = ns;
	if (argument == 1)
		reading->unit->stop_timeout_line = (uint16_t)reading->line;
}

static void read_number(struct reading *reading, struct slice value, int which)
{
	expect(reading, unit_number_set(reading->unit, value, (enum unit_number)which));
}

static void read_flag(struct reading *reading, struct slice value, int argument)
{
	bool *const places[] = { &reading->unit->enabled, &reading->unit->serial, &reading->unit->deferred,
				 &reading->unit->no_defaults, &reading->unit->on_demand, &reading->unit->ignores_pipe,
				 &reading->unit->asks_login };

	expect(reading, unit_flag_set(places[argument], value, argument == 3));
}

static void read_text(struct reading *reading, struct slice value, int argument)
{
	struct unit *unit = reading->unit;
	const char **const places[] = { &unit->user, &unit->group, &unit->directory, &unit->pidfile, &unit->tty, &unit->mark };

	if (value.size == 0)
		wrong(reading, "a value");
	else if (argument >= 2 && argument <= 4 && value.at[0] != '/')
		wrong(reading, "a full path");
	else
		*places[argument] = keep(reading, value);
}

static void read_environment(struct reading *reading, struct slice value, int argument)
{
	(void)argument;
	if (reading->path != reading->unit->path && value.size == 0)
		reading->environment.n = 0;
	else if (!environment_add(reading->units, &reading->environment, value))
		wrong(reading, "NAME=VALUE, in quotes if there are blanks in it");
}

static void read_environment_files(struct reading *reading, struct slice value, int argument)
{
	(void)argument;
	expect(reading, unit_environment_files_add(reading->units, reading->unit, value));
}

static void read_umask(struct reading *reading, struct slice value, int argument)
{
	(void)argument;
	expect(reading, unit_umask_set(reading->unit, value));
}

static void read_run_folders(struct reading *reading, struct slice value, int argument)
{
	(void)argument;
	expect(reading, unit_run_folders_set(reading->units, reading->unit, value));
}

static void read_limit(struct reading *reading, struct slice value, int which)
{
	expect(reading, confinement_limit_set(reading->units, reading->unit, value, which));
}

static void read_group(struct reading *reading, struct slice value, int which)
{
	expect(reading, confinement_group_set(reading->units, reading->unit, value, (enum group_limit)which));
}

/* Without what was meant to be taken away the program could do more than its file wants. */
static void read_capabilities(struct reading *reading, struct slice value, int which)
{
	const char *expected =
		confinement_capabilities_set(reading->units, reading->unit, value, (enum capability_set)which);

	expect(reading, expected);
	if (expected)
		break_unit(reading->unit, "a line in its file about capabilities is wrong");
}

static void read_privileges(struct reading *reading, struct slice value, int argument)
{
	const char *expected = confinement_privileges_set(reading->units, reading->unit, value);

	(void)argument;
	expect(reading, expected);
	if (expected)
		break_unit(reading->unit, "a line in its file about privileges is wrong");
}

static void read_signal(struct reading *reading, struct slice value, int argument)
{
	expect(reading, signal_parse(value, argument ? &reading->unit->reload_signal : &reading->unit->stop_signal));
}

/* What it was to depend on is not known: it is not started blindly. */
static void read_condition(struct reading *reading, struct slice value, int argument)
{
	const char *expected = NULL;

	(void)argument;
	if (reading->path != reading->unit->path && value.size == 0)
		reading->unit->conditions = NULL;
	else
		expected = condition_add(reading->units, reading->unit, value, reading->line);
	expect(reading, expected);
	if (expected)
		break_unit(reading->unit, "a condition in its file is wrong");
}

static void read_listen(struct reading *reading, struct slice value, int argument)
{
	struct socket_address address;
	const char *expected = socket_address_parse(value, &address);

	(void)argument;
	if (expected) {
		wrong(reading, expected);
		break_unit(reading->unit, "a listen line in its file is wrong");
		return;
	}
	for (size_t i = 0; i < reading->units->n_sockets; i++)
		if (socket_address_same(&reading->units->sockets[i], &address)) {
			wrong(reading, "an address that no other listen line has");
			break_unit(reading->unit, "another listen line has the address of one in its file");
			return;
		}
	if (reading->unit->n_sockets == MAX_UNIT_SOCKETS) {
		units_complain(reading->units, reading->path, reading->line, "listen: expected no more than %d of them",
			       MAX_UNIT_SOCKETS);
		break_unit(reading->unit, "it has too many listen lines");
		return;
	}
	address.text = keep(reading, value);
	if (!address.text || !units_socket(reading->units, reading->unit, &address))
		break_unit(reading->unit, "there is no room for its sockets");
}

/* "16", or "16 stdio" */
static void read_each_connection(struct reading *reading, struct slice value, int argument)
{
	struct unit *unit = reading->unit;
	struct slice word = { value.at, 0 };
	int64_t number = 0;

	(void)argument;
	word_next(&value, &word);
	unit->connection_is_input = unit->logs_errors = slice_is(slice_trim(value), "stdio");
	if (parse_number(word, 1, CONNECTIONS_MOST, &number) || (!unit->connection_is_input && slice_trim(value).size > 0)) {
		wrong(reading, "how many at once, from 1 to 1000; and `stdio` if it is their standard input and output");
		break_unit(unit, "its each-connection line is wrong");
	}
	unit->each_connection = (uint16_t)number;
	unit->on_demand = number > 0;
}

static void read_nothing(struct reading *reading, struct slice value, int argument)
{
	(void)reading, (void)value, (void)argument;
}

static const struct {
	const char *name;
	key_fn *read;
	int argument;
} KEYS[] = {
	{ "description", read_nothing, 0 },
	{ "exec", read_command, PHASE_START },
	{ "pre", read_command, PHASE_PRE },
	{ "post", read_command, PHASE_POST },
	{ "stop", read_command, PHASE_STOP },
	{ "needs", read_names, RELATION_NEEDS },
	{ "wants", read_names, RELATION_WANTS },
	{ "brings", read_names, RELATION_PULLS },
	{ "after", read_names, RELATION_AFTER },
	{ "before", read_names, RELATION_AFTER },
	{ "provides", read_provides, 0 },
	{ "ready", read_ready, 0 },
	{ "restart", read_restart, 0 },
	{ "output", read_output, 0 },
	{ "kill", read_kill, 0 },
	{ "timeout", read_duration, 0 },
	{ "stop-timeout", read_duration, 1 },
	{ "restart-delay", read_duration, 2 },
	{ "nice", read_number, NUMBER_NICE },
	{ "oom", read_number, NUMBER_OOM },
	{ "files", read_limit, RLIMIT_NOFILE },
	{ "restart-limit", read_number, NUMBER_RESTART_LIMIT },
	{ "enable", read_flag, 0 },
	{ "serial", read_flag, 1 },
	{ "defer", read_flag, 2 },
	{ "defaults", read_flag, 3 },
	{ "on-demand", read_flag, 4 },
	{ "ignore-sigpipe", read_flag, 5 },
	{ "login", read_flag, 6 },
	{ "user", read_text, 0 },
	{ "group", read_text, 1 },
	{ "directory", read_text, 2 },
	{ "env-file", read_environment_files, 0 },
	{ "umask", read_umask, 0 },
	{ "pidfile", read_text, 3 },
	{ "tty", read_text, 4 },
	{ "mark", read_text, 5 },
	{ "env", read_environment, 0 },
	{ "listen", read_listen, 0 },
	{ "each-connection", read_each_connection, 0 },
	{ "run-folder", read_run_folders, 0 },
	{ "watchdog", read_duration, 3 },
	{ "condition", read_condition, 0 },
	{ "reload", read_command, PHASE_RELOAD },
	{ "stop-signal", read_signal, 0 },
	{ "reload-signal", read_signal, 1 },
	{ "no-new-privileges", read_privileges, 0 },
	{ "capabilities", read_capabilities, CAPABILITIES_BOUNDING },
	{ "ambient-capabilities", read_capabilities, CAPABILITIES_AMBIENT },
	{ "memory-max", read_group, GROUP_MEMORY_MAX },
	{ "cpu-weight", read_group, GROUP_CPU_WEIGHT },
	{ "pids-max", read_group, GROUP_PIDS_MAX },
	{ "limit-cpu", read_limit, RLIMIT_CPU },
	{ "limit-fsize", read_limit, RLIMIT_FSIZE },
	{ "limit-data", read_limit, RLIMIT_DATA },
	{ "limit-stack", read_limit, RLIMIT_STACK },
	{ "limit-core", read_limit, RLIMIT_CORE },
	{ "limit-rss", read_limit, RLIMIT_RSS },
	{ "limit-nproc", read_limit, RLIMIT_NPROC },
	{ "limit-nofile", read_limit, RLIMIT_NOFILE },
	{ "limit-memlock", read_limit, RLIMIT_MEMLOCK },
	{ "limit-as", read_limit, RLIMIT_AS },
	{ "limit-locks", read_limit, RLIMIT_LOCKS },
	{ "limit-sigpending", read_limit, RLIMIT_SIGPENDING },
	{ "limit-msgqueue", read_limit, RLIMIT_MSGQUEUE },
	{ "limit-nice", read_limit, RLIMIT_NICE },
	{ "limit-rtprio", read_limit, RLIMIT_RTPRIO },
	{ "limit-rttime", read_limit, RLIMIT_RTTIME },
};

static void read_line(struct reading *reading, struct slice line)
{
	struct slice key;

	if (!word_next(&line, &key) || key.at[0] == '#')
		return;
	for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++)
		/* Most are told apart by their first letter. */
		if (key.at[0] == KEYS[i].name[0] && slice_is(key, KEYS[i].name)) {
			reading->key = KEYS[i].name;
			KEYS[i].read(reading, slice_trim(line), KEYS[i].argument);
			return;
		}
	units_complain(reading->units, reading->path, reading->line, "%.*s: unknown key; the line is ignored",
		       (int)(key.size < UNIT_NAME_MAX ? key.size : UNIT_NAME_MAX), key.at);
}

/* The exec line after so many others, or NULL. */
static const struct command *program(const struct reading *reading, unsigned others)
{
	const struct unit *unit = reading->unit;

	for (unsigned i = 0; i < unit->n_commands; i++) {
		const struct command *command = &reading->units->commands[unit->first_command + i];

		if (command->phase == PHASE_START && others-- == 0)
			return command;
	}
	return NULL;
}

static void check_confinement(struct reading *reading)
{
	struct unit *unit = reading->unit;
	const struct confinement *confinement = unit->confinement;

	if (confinement && confinement->bounding_given && (confinement->ambient & ~confinement->bounding)) {
		units_complain(reading->units, unit->path, 0, "ambient-capabilities: one of them is not among its `capabilities`");
		break_unit(unit, "it is to keep a capability that it cannot have");
	}
	if (unit->watchdog_ns > 0 && (unit->readiness == READY_EXIT || unit->readiness == READY_FORK)) {
		units_complain(reading->units, unit->path, 0, "watchdog: it has no main process, which would feed it");
		break_unit(unit, "nothing of it could feed its watchdog");
	}
	if (unit->reload_signal && (unit->readiness == READY_EXIT || !program(reading, 0))) {
		units_complain(reading->units, unit->path, 0, "reload-signal: it has no main process, which would get the signal");
		unit->reload_signal = 0;
	}
	if (unit->n_commands > 0 && !program(reading, 0) && reading->is_reloaded) {
		units_complain(reading->units, unit->path, 0, "reload: no exec line, whose program would be told");
		units_forget_commands(reading->units, unit, PHASE_RELOAD);
	}
}

/* Its processes come and go with those who connect: nothing is before, behind or beside them. */
static void check_connections(struct reading *reading)
{
	struct unit *unit = reading->unit;
	bool fits = unit->readiness == READY_EXEC && unit->n_commands == 1 && !unit->reload_signal && !unit->tty &&
		    unit->watchdog_ns == 0;

	if (!unit->each_connection)
		return;
	for (unsigned i = 0; i < unit->n_sockets; i++)
		fits &= reading->units->sockets[unit->first_socket + i].type == SOCK_STREAM;
	if (fits)
		return;
	units_complain(reading->units, unit->path, 0,
		       "each-connection: not with ready, pre, post, stop, reload, reload-signal, watchdog, tty or a udp socket");
	break_unit(unit, "nothing of it could serve each connection");
}

/* Its records are of its terminal, and come behind those of the boot. */
static void check_login(struct reading *reading)
{
	struct unit *unit = reading->unit;

	if (!unit->asks_login)
		return;
	if (!unit->tty || unit->readiness == READY_EXIT || unit->readiness == READY_FORK) {
		units_complain(reading->units, unit->path, 0, "login: expected a tty line, and a program that runs on");
		unit->asks_login = false;
	} else {
		units_refer(reading->units, unit, slice_of("logins"), (struct ref){ .relation = RELATION_AFTER, .when = AT_START });
	}
}

/* What only the whole file shows. */
static void finish(struct reading *reading)
{
	struct unit *unit = reading->unit;

	environment_give(reading->units, unit, &reading->environment);
	/* Or a drop-in has taken back what there was. */
	if ((reading->command_lines == 0 || (unit->n_commands == 0 && !unit->broken)) && !reading->is_group) {
		units_complain(reading->units, unit->path, 0, "no exec line, and nothing that it needs or wants");
		break_unit(unit, "its file has no exec line");
	}
	if (!reading->readiness_given && unit->n_commands == 0)
		unit->readiness = READY_EXIT;
	if (unit->readiness != READY_EXIT && unit->readiness != READY_FORK && program(reading, 1)) {
		units_complain(reading->units, unit->path, program(reading, 1)->line,
			       "exec: a program that runs on is one line; only those of `ready exit` and `ready fork` follow each other");
		break_unit(unit, "it has a second exec line, which would never run");
	}
	if (unit->n_sockets > 0 && !program(reading, 0)) {
		units_complain(reading->units, unit->path, 0, "listen: no exec line, whose program would get the sockets");
		break_unit(unit, "its sockets are for nobody");
	}
	if (unit->readiness == READY_FD && unit->ready_fd < FIRST_SOCKET_FD + unit->n_sockets) {
		units_complain(reading->units, unit->path, 0, "ready fd %d: descriptors %d to %d are its sockets", unit->ready_fd,
			       FIRST_SOCKET_FD, FIRST_SOCKET_FD + unit->n_sockets - 1);
		break_unit(unit, "a socket and its readiness want the same descriptor");
	}
	if (unit->on_demand && (unit->n_sockets == 0 || unit->readiness == READY_EXIT || unit->readiness == READY_FORK)) {
		units_complain(reading->units, unit->path, 0, "on-demand: expected a listen line, and a program that runs on");
		break_unit(unit, "nobody could connect to it, or nothing of it would answer");
	}
	check_connections(reading);
	check_confinement(reading);
	check_login(reading);
	if (unit->readiness == READY_PIDFILE && !unit->pidfile) {
		units_complain(reading->units, unit->path, 0, "ready pidfile needs a pidfile line; ready exec is taken");
		unit->readiness = READY_EXEC;
	}
	if (unit->mark && (strlen(unit->mark) > 64 || strchr(unit->mark, ' '))) {
		units_complain(reading->units, unit->path, 0, "mark: expected 1 to 64 characters without a blank");
		unit->mark = NULL;
	}
}

/* Not all of it cleared for each of many files. */
LARGE static struct reading reading;

struct unit *unit_file_begin(struct units *units, struct slice name, const char *path)
{
	const char *at = memchr(name.at, '@', name.size);

	reading.units = units;
	reading.unit = units_add(units, ORIGIN_OWN, name, path);
	reading.readiness_given = reading.is_group = reading.is_reloaded = false;
	reading.command_lines = 0;
	reading.environment.n = 0;
	reading.instance = at ? slice_from(name, (size_t)(at + 1 - name.at)) : (struct slice){ NULL, 0 };
	if (reading.unit)
		reading.unit->enabled = true;
	return reading.unit;
}

/* The line with %i as what stands behind the @ of the unit's name, %% as a percent sign; false when it gets too long. */
static bool fill_in(struct slice *line)
{
	LARGE static char filled[LINE_BYTES];
	size_t used = 0;

	for (size_t at = 0; at < line->size; at++) {
		struct slice piece = { line->at + at, 1 };

		if (line->at[at] == '%' && at + 1 < line->size && (line->at[at + 1] == 'i' || line->at[at + 1] == '%')) {
			if (line->at[++at] == 'i')
				piece = reading.instance;
		}
		if (used + piece.size > sizeof filled)
			return false;
		memcpy(filled + used, piece.at, piece.size);
		used += piece.size;
	}
	*line = (struct slice){ filled, used };
	return true;
}

void unit_file_read(const char *path, const char *text, size_t size)
{
	struct lines lines = lines_of(text, size);
	struct slice line;

	reading.path = path;
	units_mix(reading.unit, text, size);
	while (line_next(&lines, &line)) {
		reading.line = lines.number;
		if (reading.instance.size > 0 && !fill_in(&line)) {
			units_complain(reading.units, path, reading.line, "longer than %d bytes; the line is ignored", LINE_BYTES);
			continue;
		}
		read_line(&reading, line);
	}
}

void unit_file_finish(void)
{
	reading.path = reading.unit->path;
	finish(&reading);
}

struct unit *unit_file_parse(struct units *units, struct slice name, const char *path, const char *text, size_t size)
{
	struct unit *unit = unit_file_begin(units, name, path);

	if (!unit)
		return NULL;
	unit_file_read(unit->path, text, size);
	unit_file_finish();
	return unit;
}
