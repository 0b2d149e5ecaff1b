/* SPDX-License-Identifier: MIT */
#include "service_file.h"

#include <stdio.h>
#include <string.h>

#include "unit_settings.h"
#include "words.h"

enum { LINE_MAX_BYTES = 4096, IGNORED_MAX = 200 };

struct reading {
	struct units *units;
	struct unit *unit;
	unsigned line;
	const char *key;
	bool oneshot, restart_sec_given;
	struct environment_words environment;
	char ignored[IGNORED_MAX];
	unsigned n_ignored;
};

typedef void setting_fn(struct reading *reading, struct slice value, int argument);

static const struct {
	const char *systemd, *facility;
} TARGETS[] = {
	{ "network.target", "$network" },      { "network-online.target", "$network" }, { "local-fs.target", "$local_fs" },
	{ "remote-fs.target", "$remote_fs" },  { "nss-lookup.target", "$named" },	{ "time-sync.target", "$time" },
	{ "rpcbind.target", "$portmap" },      { "syslog.target", "$syslog" },	{ "syslog.socket", "$syslog" },
};

static void wrong(struct reading *reading, const char *expected)
{
	units_complain(reading->units, reading->unit->path, reading->line, "%s: expected %s", reading->key, expected);
}

static void read_names(struct reading *reading, struct slice value, int relation)
{
	struct slice name;

	while (word_next(&value, &name)) {
		struct ref how = { .line = (uint16_t)reading->line, .relation = (uint8_t)relation, .when = AT_START | AT_STOP };

		how.reversed = !strcmp(reading->key, "Before");
		how.hard = !strcmp(reading->key, "Requires") || !strcmp(reading->key, "BindsTo");
		if (slice_ends(name, ".service"))
			name.size -= strlen(".service");
		else
			how.hard = false; /* targets, sockets, mounts: what they stand for is there, or built in */
		for (size_t i = 0; i < sizeof TARGETS / sizeof TARGETS[0]; i++)
			if (slice_is(name, TARGETS[i].systemd))
				name = slice_of(TARGETS[i].facility);
		how.must_exist = how.hard;
		units_refer(reading->units, reading->unit, name, how);
	}
}

static void read_command(struct reading *reading, struct slice value, int phase)
{
	const char *words[MAX_WORDS];
	bool may_fail = false;
	int n;

	while (value.size > 0 && strchr("-+!:@", value.at[0])) {
		may_fail |= value.at[0] == '-';
		value = slice_from(value, 1);
	}
	n = words_parse(&reading->units->arena, value, words, MAX_WORDS);
	/* A name alone is looked for in the usual folders. */
	if (n <= 0 || (words[0][0] != '/' && strchr(words[0], '/')) || !*words[0]) {
		if (n < 0)
			wrong(reading, words_error(n));
		else if (value.size > 0)
			wrong(reading, "a program by its full path, or by its name alone");
		return;
	}
	units_command(reading->units, reading->unit, (enum phase)phase, words, (size_t)n, may_fail, reading->line);
}

static void read_type(struct reading *reading, struct slice value, int argument)
{
	static const struct {
		const char *name;
		enum readiness readiness;
	} TYPES[] = {
		{ "simple", READY_EXEC },   { "exec", READY_EXEC },	   { "idle", READY_EXEC },  { "oneshot", READY_EXIT },
		{ "forking", READY_FORK },  { "notify", READY_NOTIFY }, { "notify-reload", READY_NOTIFY },
	};

	(void)argument;
	for (size_t i = 0; i < sizeof TYPES / sizeof TYPES[0]; i++)
		if (slice_is(value, TYPES[i].name)) {
			reading->unit->readiness = TYPES[i].readiness;
			return;
		}
	wrong(reading, "simple, exec, notify, oneshot or forking; simple is taken");
}

static void read_restart(struct reading *reading, struct slice value, int argument)
{
	static const struct {
		const char *name;
		enum restart restart;
	} WORDS[] = {
		{ "no", RESTART_NO },		      { "always", RESTART_ALWAYS },	     { "on-success", RESTART_NO },
		{ "on-failure", RESTART_ON_FAILURE }, { "on-abnormal", RESTART_ON_FAILURE }, { "on-abort", RESTART_ON_FAILURE },
		{ "on-watchdog", RESTART_NO },
	};

	(void)argument;
	for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
		if (slice_is(value, WORDS[i].name)) {
			reading->unit->restart = WORDS[i].restart;
			return;
		}
	wrong(reading, "no, always or on-failure");
}

static void read_duration(struct reading *reading, struct slice value, int argument)
{
	struct unit *unit = reading->unit;
	int64_t ns;

	if (parse_duration(value, &ns)) {
		wrong(reading, "a time such as 500ms, 1min 30s or infinity");
		return;
	}
	if (argument == 0 || argument == 2)
		unit->start_timeout_ns = ns;
	if (argument == 1 || argument == 2)
		unit->stop_timeout_ns = ns;
	if (argument == 3)
		unit->restart_delay_ns = ns;
}

static void read_number(struct reading *reading, struct slice value, int which)
{
	const char *expected = unit_number_set(reading->unit, value, (enum unit_number)which);

	if (expected)
		wrong(reading, expected);
}

static void read_text(struct reading *reading, struct slice value, int argument)
{
	struct unit *unit = reading->unit;
	const char **const places[] = { &unit->user, &unit->group, &unit->directory, &unit->environment_file, &unit->pidfile };
	bool is_path = argument >= 2;

	/* A missing file of `-PATH` is no mistake, and neither is any other for us. */
	if (argument == 3 && slice_starts(value, "-"))
		value = slice_from(value, 1);
	if (value.size == 0 || (is_path && value.at[0] != '/'))
		wrong(reading, is_path ? "a full path" : "a value");
	else
		*places[argument] = arena_text(&reading->units->arena, value.at, value.size);
}

static void read_environment(struct reading *reading, struct slice value, int argument)
{
	(void)argument;
	if (!environment_add(reading->units, &reading->environment, value))
		wrong(reading, "NAME=VALUE words");
}

static void read_alias(struct reading *reading, struct slice value, int argument)
{
	(void)argument;
	unit_names_add(reading->units, reading->unit, value, ".service", reading->line);
}

static void read_defaults(struct reading *reading, struct slice value, int argument)
{
	const char *expected = unit_flag_set(&reading->unit->no_defaults, value, true);

	(void)argument;
	if (expected)
		wrong(reading, expected);
}

static void read_run_folders(struct reading *reading, struct slice value, int argument)
{
	const char *expected = unit_run_folders_set(reading->units, reading->unit, value);

	(void)argument;
	if (expected)
		wrong(reading, expected);
}

static void read_nothing(struct reading *reading, struct slice value, int argument)
{
	(void)reading, (void)value, (void)argument;
}

static const struct {
	const char *name;
	setting_fn *read;
	int argument;
} SETTINGS[] = {
	{ "After", read_names, RELATION_AFTER },
	{ "Before", read_names, RELATION_AFTER },
	{ "Requires", read_names, RELATION_PULLS },
	{ "BindsTo", read_names, RELATION_PULLS },
	{ "Wants", read_names, RELATION_PULLS },
	{ "DefaultDependencies", read_defaults, 0 },
	{ "Type", read_type, 0 },
	{ "ExecStart", read_command, PHASE_START },
	{ "ExecStartPre", read_command, PHASE_PRE },
	{ "ExecStartPost", read_command, PHASE_POST },
	{ "ExecStop", read_command, PHASE_STOP },
	{ "Environment", read_environment, 0 },
	{ "EnvironmentFile", read_text, 3 },
	{ "User", read_text, 0 },
	{ "Group", read_text, 1 },
	{ "WorkingDirectory", read_text, 2 },
	{ "PIDFile", read_text, 4 },
	{ "Restart", read_restart, 0 },
	{ "RestartSec", read_duration, 3 },
	{ "TimeoutStartSec", read_duration, 0 },
	{ "TimeoutStopSec", read_duration, 1 },
	{ "TimeoutSec", read_duration, 2 },
	{ "Nice", read_number, NUMBER_NICE },
	{ "OOMScoreAdjust", read_number, NUMBER_OOM },
	{ "LimitNOFILE", read_number, NUMBER_OPEN_FILES },
	{ "Alias", read_alias, 0 },
	{ "RuntimeDirectory", read_run_folders, 0 },
	{ "Description", read_nothing, 0 },
	{ "Documentation", read_nothing, 0 },
	{ "WantedBy", read_nothing, 0 },
	{ "RequiredBy", read_nothing, 0 },
	{ "Also", read_nothing, 0 },
	{ "PartOf", read_nothing, 0 },
	{ "RemainAfterExit", read_nothing, 0 },
	{ "ExecReload", read_nothing, 0 },
	{ "NotifyAccess", read_nothing, 0 },
	{ "SyslogIdentifier", read_nothing, 0 },
};

static void ignore(struct reading *reading, struct slice key)
{
	size_t used = strlen(reading->ignored);

	if (reading->n_ignored++ < 8)
		snprintf(reading->ignored + used, sizeof reading->ignored - used, "%s%.*s:%u", used ? ", " : "",
			 (int)(key.size < 40 ? key.size : 40), key.at, reading->line);
}

static void read_setting(struct reading *reading, struct slice line)
{
	const char *equals = memchr(line.at, '=', line.size);
	struct slice key;

	if (!equals) {
		units_complain(reading->units, reading->unit->path, reading->line, "expected KEY=VALUE; the line is ignored");
		return;
	}
	key = slice_trim((struct slice){ line.at, (size_t)(equals - line.at) });
	for (size_t i = 0; i < sizeof SETTINGS / sizeof SETTINGS[0]; i++)
		if (slice_is(key, SETTINGS[i].name)) {
			reading->key = SETTINGS[i].name;
			SETTINGS[i].read(reading, slice_trim(slice_from(line, (size_t)(equals + 1 - line.at))),
					 SETTINGS[i].argument);
			return;
		}
	if (!slice_starts(key, "X-"))
		ignore(reading, key);
}

/* One setting with the lines that a backslash joins to it, in `joined`. False at the end of the file. */
static bool joined_line(struct reading *reading, struct lines *lines, char *joined, struct slice *ret)
{
	struct slice line;
	size_t size = 0;

	while (line_next(lines, &line)) {
		bool goes_on;

		line = slice_trim(line);
		if (line.size == 0 || line.at[0] == '#' || line.at[0] == ';') {
			if (size == 0)
				continue;
			if (line.size > 0)
				continue; /* a comment between joined lines */
			break;
		}
		if (size == 0)
			reading->line = lines->number;
		goes_on = slice_ends(line, "\\");
		line.size -= goes_on;
		if (size + line.size + 1 > LINE_MAX_BYTES) {
			units_complain(reading->units, reading->unit->path, reading->line, "longer than %d bytes; the rest is ignored",
				       LINE_MAX_BYTES);
			break;
		}
		memcpy(joined + size, line.at, line.size);
		size += line.size;
		if (!goes_on)
			break;
		joined[size++] = ' ';
	}
	*ret = slice_trim((struct slice){ joined, size });
	return size > 0;
}

static void finish(struct reading *reading)
{
	struct unit *unit = reading->unit;

	environment_give(reading->units, unit, &reading->environment);
	if (reading->n_ignored > 0)
		units_complain(reading->units, unit->path, 0, "ignored, %u in all, because they are not supported: %s%s",
			       reading->n_ignored, reading->ignored, reading->n_ignored > 8 ? ", ..." : "");
	if (unit->n_commands == 0) {
		units_complain(reading->units, unit->path, 0, "no ExecStart that can be run");
		unit->broken = true;
		unit->why_broken = "its file has no ExecStart that can be run";
	}
}

struct unit *service_file_parse(struct units *units, struct slice name, const char *path, const char *text, size_t size)
{
	struct reading reading = { .units = units, .unit = units_add(units, ORIGIN_SYSTEMD, name, path) };
	struct lines lines = lines_of(text, size);
	char joined[LINE_MAX_BYTES + 1];
	struct slice line;

	if (!reading.unit)
		return NULL;
	while (joined_line(&reading, &lines, joined, &line)) {
		if (line.at[0] == '[')
			continue; /* sections: no key means two things */
		read_setting(&reading, line);
	}
	finish(&reading);
	return reading.unit;
}
