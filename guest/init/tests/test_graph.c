/* SPDX-License-Identifier: MIT */
/* Tests the graph of units: what is wanted, what is missing, how cycles are opened, facilities, three formats at once. */
#include "units/graph.h"

#include "check.h"
#include "units/lsb_unit.h"
#include "units/service_file.h"
#include "units/unit_file.h"

#define S(text) text, sizeof text - 1

static const char *const GOALS[] = { "app", NULL };

static void own(const char *name, const char *text)
{
	char path[64];

	snprintf(path, sizeof path, "%s.unit", name);
	unit_file_parse(&units, slice_of(name), path, text, strlen(text));
}

static void resolve(const char *const *goals, bool network)
{
	graph_resolve(&units, &(struct graph_options){ .goals = goals, .network_file_systems = network });
}

static void test_what_is_wanted_and_on_the_way(void)
{
	begin();
	own("app", "exec /a\nneeds db\nwants log\nafter clock\n");
	own("db", "exec /a\nenable no\n");
	own("log", "exec /a\nenable no\nbefore db\n");
	own("clock", "exec /a\n");
	own("other", "exec /a\nafter app\n");
	own("idle", "exec /a\nenable no\n");
	resolve(GOALS, false);
	CHECK(!*complaints);
	CHECK(unit_named("db")->wanted && unit_named("log")->wanted && !unit_named("idle")->wanted);
	CHECK(unit_named("app")->goal && unit_named("db")->goal && unit_named("log")->goal && unit_named("clock")->goal);
	CHECK(!unit_named("other")->goal);
	CHECK(relation("app", "db", AT_START) == RELATION_NEEDS && relation("db", "log", AT_START) == RELATION_AFTER);
	CHECK(unit_named("log")->height == 3 && unit_named("db")->height == 2 && unit_named("other")->height == 0);
}

static void test_missing(void)
{
	static const char *const NO_GOALS[] = { "nobody", NULL };

	begin();
	own("app", "exec /a\nwants ghost\nafter $nothing\nneeds db\nneeds clock\n");
	own("clock", "exec /a\n");
	resolve(NO_GOALS, false);
	CHECK(!strcmp(complaints, "app.unit:4: app needs db, and nothing provides it; it is not started\n"
				  "goal:0: nobody: no such unit\n"));
	CHECK(unit_named("app")->broken && !unit_named("clock")->broken);
}

static void test_cycles_are_opened_where_it_hurts_least(void)
{
	begin();
	own("a", "exec /a\nneeds b\n");
	own("b", "exec /a\nafter c\n");
	own("c", "exec /a\nneeds a\n");
	own("d", "exec /a\nneeds a\n");
	resolve(NULL, false);
	CHECK(relation("a", "b", AT_START) >= 0 && relation("c", "a", AT_START) >= 0);
	CHECK(relation("b", "c", AT_START) == -1 && relation("b", "c", AT_STOP) == -1);
	CHECK(strstr(complaints, "b.unit:2: cycle at start: a -> b -> c -> a (-> waits for); b no longer waits for c\n"));
	CHECK(!unit_named("a")->broken && !unit_named("b")->broken && !unit_named("c")->broken);

	begin();
	own("x", "exec /a\nneeds y\n");
	own("y", "exec /a\nneeds x\n");
	own("z", "exec /a\n");
	resolve(NULL, false);
	CHECK(unit_named("x")->broken + unit_named("y")->broken == 1 && !unit_named("z")->broken);
}

static void script(const char *name, const char *requires, const char *levels)
{
	char text[512];
	struct unit *unit;

	snprintf(text, sizeof text,
		 "### BEGIN INIT INFO\n# Provides: %s\n# Required-Start: %s\n# Default-Start: %s\n### END INIT INFO\n", name,
		 requires, levels);
	unit = lsb_unit_parse(&units, &(struct lsb_source){ .script = slice_of(name),
							    .script_path = name,
							    .header_path = name,
							    .text = text,
							    .size = strlen(text) });
	CHECK(unit);
	unit->enabled = true;
}

static void test_facilities(void)
{
	for (int network = 0; network < 2; network++) {
		begin();
		facilities_default(&units);
		script("mountall", "", "S");
		script("mountnfs", "$network", "S");
		script("networking", "", "S");
		script("ssh", "$remote_fs", "2");
		script("plain", "", "2");
		script("last", "$all", "2");
		own("done", "exec /a\nafter $all\n");
		own("deferred", "exec /a\ndefer yes\n");
		resolve(NULL, network);
		CHECK(!*complaints);
		CHECK(relation("ssh", "$remote_fs", AT_START) == RELATION_AFTER);
		CHECK(relation("$remote_fs", "$local_fs", AT_START) == RELATION_MEMBER);
		CHECK(relation("$local_fs", "mountall", AT_START) == RELATION_MEMBER);
		/* Without a network file system nothing of the network is waited for. */
		CHECK((relation("$remote_fs", "mountnfs", AT_START) == RELATION_MEMBER) == network);
		CHECK(relation("plain", "mountall", AT_START) == RELATION_AFTER);
		CHECK(relation("last", "ssh", AT_START) == RELATION_AFTER && relation("last", "last", AT_START) == -1);
		/* A unit of ours may come last, too; of two that do neither waits for the other. */
		CHECK(relation("done", "deferred", AT_START) == RELATION_AFTER && relation("done", "ssh", AT_START) == RELATION_AFTER);
		CHECK(relation("done", "last", AT_START) == -1 && relation("last", "done", AT_START) == -1);
		CHECK(relation("deferred", "done", AT_STOP) == -1);
	}
}

static void test_before_a_facility_and_all_at_stop(void)
{
	begin();
	facilities_default(&units);
	script("networking", "", "S");
	script("mountall", "", "S");
	script("plain", "", "2");
	script("first", "\n# X-Start-Before: $remote_fs\n# Required-Stop: $all", "S");
	own("firewall", "exec /a\nbefore $network\n");
	own("early", "exec /a\nbefore $time\n");
	resolve(NULL, true);
	CHECK(!*complaints);
	CHECK(relation("networking", "firewall", AT_START) == RELATION_AFTER && relation("$network", "firewall", AT_START) == -1);
	CHECK(relation("mountall", "first", AT_START) == RELATION_AFTER);
	/* Nobody provides it: then it waits itself. */
	CHECK(relation("$time", "early", AT_START) == RELATION_AFTER);
	CHECK(relation("first", "plain", AT_STOP) == RELATION_AFTER && relation("plain", "first", AT_STOP) == -1);
	CHECK(relation("first", "plain", AT_START) == -1);
}

static void test_own_units_and_facilities(void)
{
	begin();
	/* A unit that provides a facility is no facility itself, and what is only brought along is in no order. */
	own("wifi", "exec /a\nprovides $network\nready notify\nbrings helper\n");
	own("helper", "exec /a\nenable no\n");
	own("web", "exec /a\nafter $network\n");
	facilities_default(&units);
	script("networking", "", "S");
	resolve(NULL, true);
	CHECK(!*complaints);
	CHECK(unit_named("wifi")->readiness == READY_NOTIFY && unit_named("wifi")->origin == ORIGIN_OWN);
	CHECK(relation("web", "wifi", AT_START) == RELATION_AFTER);
	for (size_t i = 0; i < units.n_units; i++)
		if (units.unit[i].origin == ORIGIN_FACILITY && !strcmp(units.unit[i].name, "$network"))
			CHECK(units.unit[i].edges_in != NO_EDGE && units.unit[i].edges_out != NO_EDGE);
	CHECK(unit_named("helper")->wanted && relation("wifi", "helper", AT_START) == -1);
}

static struct unit *service(const char *name, const char *text)
{
	char path[64];
	struct unit *unit;

	snprintf(path, sizeof path, "%s.service", name);
	unit = service_file_begin(&units, slice_of(name), path);
	service_file_read(path, text, strlen(text));
	service_file_finish();
	return unit;
}

static const struct command *command_of(const struct unit *unit, size_t number)
{
	return &units.commands[unit->first_command + number];
}

static void test_systemd_to_the_letter(void)
{
	struct unit *unit;

	begin();
	unit = service_file_begin(&units, slice_of("a"), "a.service");
	service_file_read("a.service",
			  S("[Service]\nExecStart=/bin/old\nExecStart=/bin/older\nExecStop=@+/bin/stop told %n\nUMask=0077\n"
			    "EnvironmentFile=/etc/one\nEnvironmentFile=-/etc/two\nPIDFile=%p.pid\nKillMode=process\nUser=www\n"
			    "WorkingDirectory=%S/a\nEnvironment=A=1\n"));
	service_file_read("a.d/x.conf", S("[Service]\nExecStart=\nExecStart=:/bin/new %t/%N 100%% $$A\nUser=\n"));
	service_file_finish();
	CHECK(!*complaints && !unit->broken && unit->n_commands == 2);
	CHECK(!strcmp(command_of(unit, 0)->argv[0], "/bin/stop") && !strcmp(command_of(unit, 0)->argv[2], "a.service"));
	CHECK(command_of(unit, 0)->as_root && command_of(unit, 0)->renamed && !command_of(unit, 0)->literal);
	CHECK(!strcmp(command_of(unit, 1)->argv[0], "/bin/new") && !strcmp(command_of(unit, 1)->argv[1], "/run/a"));
	CHECK(!strcmp(command_of(unit, 1)->argv[2], "100%") && command_of(unit, 1)->literal);
	CHECK(!strcmp(unit->environment_files[0], "/etc/one") && !strcmp(unit->environment_files[1], "-/etc/two"));
	CHECK(!strcmp(unit->pidfile, "/run/a.pid") && unit->kill_mode == KILL_MAIN && unit->umask == 077);
	CHECK(!unit->user && !strcmp(unit->directory, "/var/lib/a"));
}

static void test_what_systemd_would_do_differently_is_refused(void)
{
	static const char *const TEXTS[][2] = {
		{ "ExecStart=/a %m\n", "ExecStart: it has a specifier (%) that is not known here" },
		{ "ExecStart=/a ; /b\n", "ExecStart: a second command behind a ;" },
		{ "RootDirectory=/srv\nExecStart=/a\n", "RootDirectory: there is no such thing here" },
		{ "DynamicUser=yes\nExecStart=/a\n", "DynamicUser: there is no such thing here" },
		{ "ExecCondition=/bin/false\nExecStart=/a\n", "ExecCondition: there is no such thing here" },
		{ "EnvironmentFile=/etc/*.conf\nExecStart=/a\n", "EnvironmentFile: expected full paths" },
		{ "ExecStart=/a\nExecStart=/b\n", "ExecStart: a second one is for Type=oneshot alone" },
	};

	for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
		begin();
		CHECK(service("a", TEXTS[i][0])->broken);
		CHECK(strstr(complaints, TEXTS[i][1]) && strstr(complaints, ": a is not started\n"));
		CHECK(!strncmp(complaints, i == 6 ? "a.service:2: " : "a.service:1: ", 13));
	}
	begin();
	CHECK(!service("a", "Type=oneshot\nDynamicUser=no\nExecStart=/a\nExecStart=/b\n")->broken && !*complaints);
	service("b", "BindsTo=a.service\nExecStart=/a\n")->enabled = true;
	service("c", "Requires=a.service\nAfter=a.service\nExecStart=/a\n")->enabled = true;
	resolve(NULL, false);
	CHECK(relation("b", "a", AT_START) == RELATION_NEEDS && units.edges[unit_named("b")->edges_out].binds);
	CHECK(relation("c", "a", AT_START) == RELATION_NEEDS && !units.edges[unit_named("c")->edges_out].binds);
}

static void test_systemd(void)
{
	static const char TEXT[] = "[Unit]\nAfter=network.target db.service\nRequires=db.service\nWants=cache.service\n"
				   "[Service]\nType=notify\nExecStart=/usr/bin/a \\\n  --long $OPTIONS\nPrivateTmp=yes\n"
				   "Environment=\"A=1 2\" B=3\nRestart=always\nTimeoutStartSec=5\nRuntimeDirectory=a b\n"
				   "ExecStop=b --now\nExecStop=./c\nRuntimeDirectory=/x\n";
	struct unit *unit;

	begin();
	unit = service("a", TEXT);
	service("db", "[Service]\nExecStart=/a\n");
	service("cache", "[Service]\nExecStart=/a\n");
	unit->enabled = true;
	resolve(NULL, false);
	CHECK(!strcmp(complaints, "a.service:15: ExecStop: expected a program by its full path, or by its name alone\n"
				  "a.service:16: RuntimeDirectory: expected names of folders below /run\n"
				  "a.service:0: ignored, 1 in all, because they are not supported: PrivateTmp:9\n"));
	CHECK(relation("a", "db", AT_START) == RELATION_NEEDS && relation("a", "cache", AT_START) == -1);
	CHECK(unit_named("db")->wanted && unit_named("cache")->wanted && unit->readiness == READY_NOTIFY);
	CHECK(!strcmp(units.commands[0].argv[1], "--long") && units.commands[0].line == 7);
	CHECK(!strcmp(units.commands[1].argv[0], "b") && !strcmp(unit->run_folders[1], "b") && !unit->run_folders[2]);
	CHECK(unit->restart == RESTART_ALWAYS && unit->start_timeout_ns == 5000000000);
}

/* ufw, a network, sshd: as Debian's files have it, and the same through sysinit.target. */
static void test_services_are_ordered_through_targets(void)
{
	begin();
	facilities_default(&units);
	service("ufw", "[Unit]\nDefaultDependencies=no\nBefore=network-pre.target shutdown.target\n[Service]\nType=oneshot\n"
		       "ExecStart=/a\n")->enabled = true;
	service("net", "[Unit]\nDefaultDependencies=no\nAfter=network-pre.target\nBefore=network.target\n[Service]\n"
		       "ExecStart=/a\n")->enabled = true;
	service("settle", "[Unit]\nDefaultDependencies=no\nBefore=sysinit.target\n[Service]\nExecStart=/a\n")->enabled = true;
	service("sshd", "[Unit]\nAfter=network.target\n[Service]\nExecStart=/a\n")->enabled = true;
	service("own", "[Unit]\nBefore=basic.target\n[Service]\nExecStart=/a\n")->enabled = true;
	service("early", "[Unit]\nDefaultDependencies=no\n[Service]\nExecStart=/a\n")->enabled = true;
	resolve(NULL, false);
	CHECK(!*complaints);
	CHECK(relation("network-pre.target", "ufw", AT_START) == RELATION_AFTER);
	CHECK(relation("$network", "network-pre.target", AT_START) == RELATION_AFTER);
	CHECK(relation("net", "network-pre.target", AT_START) == RELATION_AFTER);
	CHECK(relation("$network", "net", AT_START) == RELATION_AFTER);
	CHECK(relation("sshd", "$network", AT_START) == RELATION_AFTER && relation("sshd", "$network", AT_STOP) == RELATION_AFTER);
	CHECK(relation("sshd", "sysinit.target", AT_START) == RELATION_AFTER);
	CHECK(relation("sshd", "basic.target", AT_START) == RELATION_AFTER);
	CHECK(relation("sysinit.target", "settle", AT_START) == RELATION_AFTER);
	CHECK(relation("basic.target", "own", AT_START) == RELATION_AFTER && relation("own", "basic.target", AT_START) == -1);
	CHECK(relation("basic.target", "sysinit.target", AT_START) == RELATION_AFTER);
	CHECK(relation("early", "sysinit.target", AT_START) == -1);
	CHECK(units_find(&units, slice_of("shutdown.target")) == NO_UNIT);
}

int main(void)
{
	test_what_is_wanted_and_on_the_way();
	test_missing();
	test_cycles_are_opened_where_it_hurts_least();
	test_facilities();
	test_before_a_facility_and_all_at_stop();
	test_own_units_and_facilities();
	test_systemd();
	test_services_are_ordered_through_targets();
	test_systemd_to_the_letter();
	test_what_systemd_would_do_differently_is_refused();
	puts("test_graph: ok");
	return 0;
}
