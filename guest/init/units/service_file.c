/* SPDX-License-Identifier: MIT */
/* Makes a unit of one of systemd's .service files, and complains about what it leaves out. */
#include "service_file.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "confinement.h"
#include "service_process.h"
#include "service_reading.h"
#include "shared/large.h"
#include "shared/print.h"
#include "unit_settings.h"
#include "words.h"

static const struct {
	const char *systemd, *facility;
} TARGETS[] = {
	{ "network.target", "$network" },      { "network-online.target", "$network" }, { "local-fs.target", "$local_fs" },
	{ "remote-fs.target", "$remote_fs" },  { "nss-lookup.target", "$named" },	{ "time-sync.target", "$time" },
	{ "rpcbind.target", "$portmap" },      { "syslog.target", "$syslog" },	{ "syslog.socket", "$syslog" },
};

static void read_names(struct service_reading *reading, struct slice value, int relation)
{
	struct slice name;

	while (word_next(&value, &name)) {
		struct ref how = { .line = (uint16_t)reading->line, .relation = (uint8_t)relation, .when = AT_START | AT_STOP };

		how.reversed = !strcmp(reading->key, "Before");
		how.binds = !strcmp(reading->key, "BindsTo");
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
		/* What it is bound to it comes after, too: then it is one thing that needs another. */
		if (how.binds && how.hard) {
			how.relation = RELATION_AFTER;
			units_refer(reading->units, reading->unit, name, how);
		}
	}
}

static void read_command(struct service_reading *reading, struct slice value, int phase)
{
	const char *words[MAX_WORDS];
	struct command how = { .may_fail = false };
	int n;

	for (; value.size > 0 && strchr("-+!:@|", value.at[0]); value = slice_from(value, 1)) {
		how.may_fail |= value.at[0] == '-';
		how.as_root |= value.at[0] == '+' || value.at[0] == '!';
		how.unconfined |= value.at[0] == '+';
		how.literal |= value.at[0] == ':';
		how.renamed |= value.at[0] == '@';
		if (value.at[0] == '|') {
			service_refuse(reading, "a command that a shell would have to run");
			return;
		}
	}
	n = words_parse(&reading->units->arena, value, words, MAX_WORDS);
	/* A name alone is looked for in the usual folders. */
	if (n <= how.renamed || (words[0][0] != '/' && strchr(words[0], '/')) || !*words[0]) {
		if (n < 0)
			service_refuse(reading, words_error(n));
		else
			service_wrong(reading, "a program by its full path, or by its name alone");
		return;
	}
	for (int i = 0; i < n; i++)
		if (!strcmp(words[i], ";")) {
			service_refuse(reading, "a second command behind a ;");
			return;
		}
	if (units_command(reading->units, reading->unit, (enum phase)phase, words, (size_t)n, how.may_fail, reading->line)) {
		struct command *command = units_last_command(reading->units);

		command->path = reading->path != reading->unit->path ? reading->path : NULL;
		command->as_root = how.as_root;
		command->unconfined = how.unconfined;
		command->literal = how.literal;
		command->renamed = how.renamed;
	}
}

static void read_type(struct service_reading *reading, struct slice value, int argument)
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
			if (slice_is(value, "notify-reload") && !reading->unit->reload_signal)
				reading->unit->reload_signal = SIGHUP;
			return;
		}
	service_wrong(reading, "simple, exec, notify, oneshot or forking; simple is taken");
}

static void read_restart(struct service_reading *reading, struct slice value, int argument)
{
	static const struct {
		const char *name;
		enum restart restart;
	} WORDS[] = {
		{ "no", RESTART_NO },		      { "always", RESTART_ALWAYS },	     { "on-success", RESTART_NO },
		{ "on-failure", RESTART_ON_FAILURE }, { "on-abnormal", RESTART_ON_FAILURE }, { "on-abort", RESTART_ON_FAILURE },
		{ "on-watchdog", RESTART_NO },
	};
	static const char *const NAMES[] = { "never", "on-failure", "always" };

	(void)argument;
	for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
		if (slice_is(value, WORDS[i].name)) {
			reading->unit->restart = WORDS[i].restart;
			/* The first four are what they say, but for one. */
			if (i == 2 || i >= 4)
				units_complain(reading->units, reading->path, reading->line, "Restart=%s: %s, here", WORDS[i].name,
					       NAMES[WORDS[i].restart]);
			return;
		}
	service_wrong(reading, "no, always or on-failure");
}

static void read_kill_mode(struct service_reading *reading, struct slice value, int argument)
{
	static const struct {
		const char *name;
		enum kill_mode mode;
	} MODES[] = { { "control-group", KILL_ALL }, { "mixed", KILL_MIXED }, { "process", KILL_MAIN } };

	(void)argument;
	for (size_t i = 0; i < sizeof MODES / sizeof MODES[0]; i++)
		if (slice_is(value, MODES[i].name)) {
			reading->unit->kill_mode = MODES[i].mode;
			return;
		}
	service_wrong(reading, "control-group, mixed or process");
}

static void read_duration(struct service_reading *reading, struct slice value, int argument)
{
	struct unit *unit = reading->unit;
	int64_t ns;

	if (parse_duration(value, &ns)) {
		service_wrong(reading, "a time such as 500ms, 1min 30s or infinity");
		return;
	}
	if (argument == 0 || argument == 2)
		unit->start_timeout_ns = ns;
	if (argument == 1 || argument == 2) {
		unit->stop_timeout_ns = ns;
		unit->stop_timeout_line = (uint16_t)reading->line;
	}
	if (argument == 3)
		unit->restart_delay_ns = ns;
	if (argument == 4)
		unit->watchdog_ns = ns;
}

static void read_number(struct service_reading *reading, struct slice value, int which)
{
	const char *expected = unit_number_set(reading->unit, value, (enum unit_number)which);

	if (expected)
		service_wrong(reading, expected);
}

static void read_text(struct service_reading *reading, struct slice value, int argument)
{
	struct unit *unit = reading->unit;
	const char **const places[] = { &unit->user, &unit->group, &unit->directory, &unit->pidfile };
	bool is_path = argument >= 2;

	if (is_path && value.at[0] != '/')
		service_refuse(reading, "no full path");
	else
		*places[argument] = arena_text(&reading->units->arena, value.at, value.size);
}

static void read_pidfile(struct service_reading *reading, struct slice value, int argument)
{
	char path[SERVICE_LINE_BYTES];

	if (value.at[0] == '/')
		read_text(reading, value, argument);
	else if (print(path, sizeof path, "/run/%.*s", (int)value.size, value.at) < (int)sizeof path)
		read_text(reading, slice_of(path), argument);
}

static void read_environment_files(struct service_reading *reading, struct slice value, int argument)
{
	const char *expected = unit_environment_files_add(reading->units, reading->unit, value);

	(void)argument;
	if (expected)
		service_refuse(reading, "expected full paths, without patterns");
}

static void read_umask(struct service_reading *reading, struct slice value, int argument)
{
	const char *expected = unit_umask_set(reading->unit, value);

	(void)argument;
	if (expected)
		service_wrong(reading, expected);
}

static void read_refused(struct service_reading *reading, struct slice value, int argument)
{
	(void)argument;
	if (!slice_is(value, "no") && !slice_is(value, "false") && !slice_is(value, "null"))
		service_refuse(reading, "there is no such thing here, and without it something else would be run");
}

/* "socket": who has connected, to a unit that has a process for each. */
static void read_input(struct service_reading *reading, struct slice value, int argument)
{
	reading->unit->connection_is_input = slice_is(value, "socket") && slice_ends(slice_of(reading->unit->name), "@");
	if (!reading->unit->connection_is_input)
		read_refused(reading, value, argument);
}

static void read_environment(struct service_reading *reading, struct slice value, int argument)
{
	(void)argument;
	if (!environment_add(reading->units, &reading->environment, value))
		service_wrong(reading, "NAME=VALUE words");
}

static void read_alias(struct service_reading *reading, struct slice value, int argument)
{
	(void)argument;
	unit_names_add(reading->units, reading->unit, value, ".service", reading->line);
}

static void read_defaults(struct service_reading *reading, struct slice value, int argument)
{
	const char *expected = unit_flag_set(&reading->unit->no_defaults, value, true);

	(void)argument;
	if (expected)
		service_wrong(reading, expected);
}

static void read_run_folders(struct service_reading *reading, struct slice value, int argument)
{
	const char *expected = unit_run_folders_set(reading->units, reading->unit, value);

	(void)argument;
	if (expected)
		service_wrong(reading, expected);
}

static void read_run_mode(struct service_reading *reading, struct slice value, int argument)
{
	(void)argument;
	if (unit_mode_parse(value, 07777, &reading->unit->run_mode))
		service_refuse(reading, "expected octal digits, as 0750");
}

static void read_remains(struct service_reading *reading, struct slice value, int argument)
{
	bool remains = false;

	(void)argument;
	parse_bool(value, &remains);
	reading->remains_line = remains ? reading->line : 0;
}

static void read_start_only(struct service_reading *reading, struct slice value, int argument)
{
	(void)argument;
	parse_bool(value, &reading->start_only);
}

/*
 * Without these something else would be run, as somebody else, with other variables, descriptors or files, or for longer. What only
 * shuts a program in is not among them: see docs/init.md.
 */
static const char REFUSED[] = "RootDirectory\0RootImage\0ExecCondition\0DynamicUser\0SupplementaryGroups\0ExecSearchPath\0PassEnvironment\0"
			      "UnsetEnvironment\0SetLoginEnvironment\0PAMName\0SecureBits\0Personality\0BindPaths\0BindReadOnlyPaths\0"
			      "MountImages\0ExtensionImages\0ExtensionDirectories\0NetworkNamespacePath\0IPCNamespacePath\0OpenFile\0"
			      "StandardInputText\0StandardInputData\0LoadCredential\0LoadCredentialEncrypted\0SetCredential\0"
			      "SetCredentialEncrypted\0RuntimeMaxSec\0Requisite\0";

static bool refuse_by_name(struct service_reading *reading, struct slice key, struct slice value)
{
	for (const char *name = REFUSED; *name; name += strlen(name) + 1)
		if (slice_is(key, name)) {
			reading->key = name;
			if (value.size > 0 && !slice_is(value, "infinity"))
				read_refused(reading, value, 0);
			return true;
		}
	return false;
}

static void read_nothing(struct service_reading *reading, struct slice value, int argument)
{
	(void)reading, (void)value, (void)argument;
}

static const struct {
	const char *name;
	service_setting_fn *read;
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
	{ "ExecReload", read_command, PHASE_RELOAD },
	{ "Environment", read_environment, 0 },
	{ "EnvironmentFile", read_environment_files, 0 },
	{ "User", read_text, 0 },
	{ "Group", read_text, 1 },
	{ "WorkingDirectory", read_text, 2 },
	{ "PIDFile", read_pidfile, 3 },
	{ "UMask", read_umask, 0 },
	{ "StandardInput", read_input, 0 },
	{ "KillMode", read_kill_mode, 0 },
	{ "Restart", read_restart, 0 },
	{ "RestartSec", read_duration, 3 },
	{ "TimeoutStartSec", read_duration, 0 },
	{ "TimeoutStopSec", read_duration, 1 },
	{ "TimeoutSec", read_duration, 2 },
	{ "WatchdogSec", read_duration, 4 },
	{ "Nice", read_number, NUMBER_NICE },
	{ "OOMScoreAdjust", read_number, NUMBER_OOM },
	{ "LimitCPU", service_read_limit, RLIMIT_CPU },
	{ "LimitFSIZE", service_read_limit, RLIMIT_FSIZE },
	{ "LimitDATA", service_read_limit, RLIMIT_DATA },
	{ "LimitSTACK", service_read_limit, RLIMIT_STACK },
	{ "LimitCORE", service_read_limit, RLIMIT_CORE },
	{ "LimitRSS", service_read_limit, RLIMIT_RSS },
	{ "LimitNPROC", service_read_limit, RLIMIT_NPROC },
	{ "LimitNOFILE", service_read_limit, RLIMIT_NOFILE },
	{ "LimitMEMLOCK", service_read_limit, RLIMIT_MEMLOCK },
	{ "LimitAS", service_read_limit, RLIMIT_AS },
	{ "LimitLOCKS", service_read_limit, RLIMIT_LOCKS },
	{ "LimitSIGPENDING", service_read_limit, RLIMIT_SIGPENDING },
	{ "LimitMSGQUEUE", service_read_limit, RLIMIT_MSGQUEUE },
	{ "LimitNICE", service_read_limit, RLIMIT_NICE },
	{ "LimitRTPRIO", service_read_limit, RLIMIT_RTPRIO },
	{ "LimitRTTIME", service_read_limit, RLIMIT_RTTIME },
	{ "MemoryMax", service_read_group, GROUP_MEMORY_MAX },
	{ "MemoryLimit", service_read_group, GROUP_MEMORY_MAX },
	{ "CPUWeight", service_read_group, GROUP_CPU_WEIGHT },
	{ "TasksMax", service_read_group, GROUP_PIDS_MAX },
	{ "CapabilityBoundingSet", service_read_capabilities, CAPABILITIES_BOUNDING },
	{ "AmbientCapabilities", service_read_capabilities, CAPABILITIES_AMBIENT },
	{ "NoNewPrivileges", service_read_privileges, 0 },
	{ "KillSignal", service_read_signal, SERVICE_SIGNAL_STOP },
	{ "ReloadSignal", service_read_signal, SERVICE_SIGNAL_RELOAD },
	{ "WatchdogSignal", service_read_signal, SERVICE_SIGNAL_WATCHDOG },
	{ "FinalKillSignal", service_read_signal, SERVICE_SIGNAL_KILL },
	{ "SendSIGHUP", service_read_hang_up, 0 },
	{ "SendSIGKILL", service_read_no_kill, 0 },
	{ "IgnoreSIGPIPE", service_read_pipe, 0 },
	{ "Alias", read_alias, 0 },
	{ "RuntimeDirectory", read_run_folders, 0 },
	{ "RuntimeDirectoryMode", read_run_mode, 0 },
	{ "Description", read_nothing, 0 },
	{ "Documentation", read_nothing, 0 },
	{ "WantedBy", read_nothing, 0 },
	{ "RequiredBy", read_nothing, 0 },
	{ "Also", read_nothing, 0 },
	{ "RemainAfterExit", read_remains, 0 },
	{ "PermissionsStartOnly", read_start_only, 0 },
	{ "NotifyAccess", read_nothing, 0 },
	{ "SyslogIdentifier", read_nothing, 0 },
};

static void ignore(struct service_reading *reading, struct slice key)
{
	size_t used = strlen(reading->ignored);

	if (reading->n_ignored++ < 8)
		print(reading->ignored + used, sizeof reading->ignored - used, "%s%.*s:%u", used ? ", " : "",
		      (int)(key.size < 40 ? key.size : 40), key.at, reading->line);
}

/* An empty value takes back what was said before, in a drop-in most of all. */
static void reset(struct service_reading *reading, service_setting_fn *read, int argument)
{
	struct unit *unit = reading->unit;

	if (service_process_reset(reading, read, argument))
		return;
	if (read == read_command)
		units_forget_commands(reading->units, unit, (enum phase)argument);
	else if (read == read_environment)
		reading->environment.n = 0;
	else if (read == read_environment_files)
		unit->environment_files = NULL;
	else if (read == read_run_folders)
		unit->run_folders = NULL;
	else if (read == read_text || read == read_pidfile)
		*(const char **const[]){ &unit->user, &unit->group, &unit->directory, &unit->pidfile }[argument] = NULL;
}

static void read_setting(struct service_reading *reading, struct slice line)
{
	LARGE static char filled[SERVICE_LINE_BYTES * 2];
	const char *equals = memchr(line.at, '=', line.size);
	struct slice key, value;

	if (!equals) {
		units_complain(reading->units, reading->path, reading->line, "expected KEY=VALUE; the line is ignored");
		return;
	}
	key = slice_trim((struct slice){ line.at, (size_t)(equals - line.at) });
	value = slice_trim(slice_from(line, (size_t)(equals + 1 - line.at)));
	for (size_t i = 0; i < sizeof SETTINGS / sizeof SETTINGS[0]; i++)
		if (slice_is(key, SETTINGS[i].name)) {
			reading->key = SETTINGS[i].name;
			reading->is_words = SETTINGS[i].read == read_command || SETTINGS[i].read == read_environment ||
					    SETTINGS[i].read == read_environment_files;
			if (SETTINGS[i].read == read_nothing)
				return;
			if (value.size == 0)
				reset(reading, SETTINGS[i].read, SETTINGS[i].argument);
			else if (SETTINGS[i].read == service_read_group) /* 25% is no specifier */
				SETTINGS[i].read(reading, value, SETTINGS[i].argument);
			else if (service_fill_in(reading, value, filled, sizeof filled, &value))
				SETTINGS[i].read(reading, value, SETTINGS[i].argument);
			return;
		}
	reading->is_words = false;
	if (slice_starts(key, "Condition") || slice_starts(key, "Assert")) {
		if (value.size > 0 && !service_fill_in(reading, value, filled, sizeof filled, &value))
			return;
		if (service_read_condition(reading, key, value))
			return;
	}
	if (refuse_by_name(reading, key, value))
		return;
	/* It was to be checked before anything is run, and cannot be. */
	if (slice_starts(key, "Assert")) {
		reading->key = "Assert";
		service_refuse(reading, "there is no such thing here, and without it it would be started where it must not");
	}
	if (slice_is(key, "StandardError"))
		reading->unit->logs_errors = !slice_is(value, "inherit") && !slice_is(value, "socket");
	if (!slice_starts(key, "X-"))
		ignore(reading, key);
}

/* systemd refuses that itself; here the second would never run. */
static void refuse_second_program(struct service_reading *reading)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < reading->unit->n_commands && reading->unit->readiness != READY_EXIT; i++) {
		const struct command *command = &reading->units->commands[reading->unit->first_command + i];

		if (command->phase != PHASE_START || n++ == 0)
			continue;
		reading->key = "ExecStart";
		reading->line = command->line;
		service_refuse(reading, "a second one is for Type=oneshot alone");
	}
}

/* What each instance of a template would have for itself, and what has one process for each connection shares or lacks. */
static void refuse_beside_connections(struct service_reading *reading)
{
	struct unit *unit = reading->unit;

	reading->key = "Accept";
	reading->line = 0;
	if (unit->n_sockets == 0)
		service_refuse(reading, "no socket file of it can be had here");
	else if (unit->readiness != READY_EXEC || unit->n_commands != 1 || unit->watchdog_ns > 0 || unit->reload_signal)
		service_refuse(reading, "a service for each connection is one ExecStart of Type=simple here");
	else if (unit->confinement && (unit->confinement->group[GROUP_MEMORY_MAX] || unit->confinement->group[GROUP_CPU_WEIGHT] ||
				       unit->confinement->group[GROUP_PIDS_MAX]))
		service_refuse(reading, "MemoryMax, CPUWeight and TasksMax would be of all its connections together");
	unit->on_demand = true;
}

LARGE static struct service_reading reading;

struct unit *service_file_begin(struct units *units, struct slice name, const char *path)
{
	reading.units = units;
	reading.unit = units_add(units, ORIGIN_SYSTEMD, name, path);
	reading.ignored[0] = '\0';
	reading.n_ignored = reading.remains_line = 0;
	reading.start_only = false;
	reading.environment.n = 0;
	/* As systemd has it, unless the file says otherwise. */
	if (reading.unit)
		reading.unit->ignores_pipe = true;
	return reading.unit;
}

void service_file_read(const char *path, const char *text, size_t size)
{
	struct lines lines = lines_of(text, size);
	char joined[SERVICE_LINE_BYTES + 1];
	struct slice line;

	reading.path = path;
	units_mix(reading.unit, text, size);
	while (service_line(&reading, &lines, joined, &line)) {
		if (line.at[0] == '[')
			continue; /* sections: no key means two things */
		read_setting(&reading, line);
	}
}

void service_file_finish(void)
{
	struct unit *unit = reading.unit;

	reading.path = unit->path;
	environment_give(reading.units, unit, &reading.environment);
	if (reading.n_ignored > 0)
		units_complain(reading.units, unit->path, 0, "ignored, %u in all, because they are not supported: %s%s",
			       reading.n_ignored, reading.ignored, reading.n_ignored > 8 ? ", ..." : "");
	if (reading.remains_line > 0 && unit->readiness != READY_EXIT)
		units_complain(reading.units, unit->path, reading.remains_line,
			       "RemainAfterExit: of Type=oneshot alone here; %s is down once its processes have ended", unit->name);
	for (uint32_t i = unit->first_command; reading.start_only && i < unit->first_command + unit->n_commands; i++)
		if (reading.units->commands[i].phase != PHASE_START)
			reading.units->commands[i].as_root = reading.units->commands[i].unconfined = true;
	refuse_second_program(&reading);
	if (slice_ends(slice_of(unit->name), "@"))
		refuse_beside_connections(&reading);
	if (unit->watchdog_ns > 0 && unit->readiness == READY_FORK) {
		reading.key = "WatchdogSec";
		reading.line = 0;
		service_refuse(&reading, "the watchdog of a daemon that forks is not kept here");
	}
	if (unit->n_commands == 0 && !unit->broken) {
		units_complain(reading.units, unit->path, 0, "no ExecStart that can be run");
		unit->broken = true;
		unit->why_broken = "its file has no ExecStart that can be run";
	}
}
