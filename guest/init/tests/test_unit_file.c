/* SPDX-License-Identifier: MIT */
/* Tests how NAME.unit files and init.conf are read: whole ones, mistakes with their lines, sockets, no room. */
#include "units/unit_file.h"

#include <sys/resource.h>

#include "check.h"
#include "units/config.h"
#include "units/confinement.h"

static struct unit *parse(const char *text)
{
	begin();
	return unit_file_parse(&units, slice_of("u"), "u.unit", text, strlen(text));
}

static void test_a_whole_file(void)
{
	struct unit *unit = parse("# the camera\n"
				  "description  whatever = this says\n"
				  "exec /usr/bin/camera --name \"two words\"\n"
				  "pre -/bin/mkdir /run/camera\n"
				  "needs storage network\n"
				  "wants syslog\n"
				  "before ui\n"
				  "provides $video camera-service\n"
				  "ready fd 5\n"
				  "timeout 1.5s\nstop-timeout 200ms\n"
				  "restart on-failure\nrestart-delay 1s\nrestart-limit 3\n"
				  "user cam\nenv A=1 \"B=2 3\"\nenv C=4\nnice -5\noom -900\nfiles 4096\n"
				  "output console\nmark camera-up\nserial yes\ndefaults no");

	CHECK(unit && !*complaints && unit->enabled && !unit->broken);
	CHECK(unit->n_commands == 2 && units.commands[0].phase == PHASE_START && units.commands[0].line == 3);
	CHECK(!strcmp(units.commands[0].argv[2], "two words") && !units.commands[0].argv[3]);
	CHECK(units.commands[1].may_fail && !strcmp(units.commands[1].argv[0], "/bin/mkdir"));
	CHECK(units.n_refs == 4 && units.refs[3].reversed && units.refs[0].must_exist && !units.refs[2].must_exist);
	CHECK(unit_named("$video") == unit && unit_named("camera-service") == unit && unit_named("u") == unit);
	CHECK(unit->readiness == READY_FD && unit->ready_fd == 5);
	CHECK(unit->start_timeout_ns == 1500000000 && unit->stop_timeout_ns == 200000000);
	CHECK(unit->restart == RESTART_ON_FAILURE && unit->restart_delay_ns == 1000000000 && unit->restart_limit == 3);
	CHECK(!strcmp(unit->environment[1], "B=2 3") && !strcmp(unit->environment[2], "C=4") && !unit->environment[3]);
	CHECK(unit->nice == -5 && unit->oom == -900 && unit->oom_given && unit->confinement->resources[RLIMIT_NOFILE].soft == 4096);
	CHECK(unit->output == OUTPUT_CONSOLE && unit->serial && unit->no_defaults && !strcmp(unit->mark, "camera-up"));
}

static void test_mistakes(void)
{
	static const struct {
		const char *text, *complaint;
		bool broken;
	} CASES[] = {
		{ "exec /bin/a\nexecute /bin/b\n", "u.unit:2: execute: unknown key; the line is ignored\n", false },
		{ "exec camera\n", "u.unit:1: exec: expected a program by its full path, then its arguments\n", true },
		{ "exec /bin/a \"b\n", "u.unit:1: exec: a quote is not closed, or a backslash ends the line\n", true },
		{ "", "u.unit:0: no exec line, and nothing that it needs or wants\n", true },
		{ "exec /a\nready soon\n",
		  "u.unit:2: ready: expected exec, exit, fork, pidfile, notify, or fd and a number from 3 to 255\n", false },
		{ "exec /a\nready fd 2\n",
		  "u.unit:2: ready: expected exec, exit, fork, pidfile, notify, or fd and a number from 3 to 255\n", false },
		{ "exec /a\ntimeout soon\n",
		  "u.unit:2: timeout: expected a time such as 500ms, 1.5s, 2min or infinity\n", false },
		{ "exec /a\nenv A\n", "u.unit:2: env: expected NAME=VALUE, in quotes if there are blanks in it\n", false },
		{ "exec /a\nready pidfile\n", "u.unit:0: ready pidfile needs a pidfile line; ready exec is taken\n", false },
		{ "exec /a\npidfile run/a\n", "u.unit:2: pidfile: expected a full path\n", false },
		{ "exec /a\nprovides a/b\n", "u.unit:2: \"a/b\" is no name for a unit\n", false },
		{ "exec /a\nnice 20\n", "u.unit:2: nice: expected a number from -20 (first) to 19\n", false },
		{ "exec /a\nmark a b\n", "u.unit:0: mark: expected 1 to 64 characters without a blank\n", false },
	};

	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct unit *unit = parse(CASES[i].text);

		if (strcmp(complaints, CASES[i].complaint))
			fprintf(stderr, "case %zu:\n%s", i, CASES[i].text);
		CHECK(!strcmp(complaints, CASES[i].complaint));
		CHECK(unit && unit->broken == CASES[i].broken);
	}
}

static void test_where_sockets_listen(void)
{
	static const char *const WRONG[] = { "",	     "80",		"tcp",		    "tcp 0",	       "tcp 65536",
					     "tcp :80",	     "tcp a:80",	"tcp 1.2.3:80",	    "tcp [::g]:80",    "tcp [fe80::1]:80",
					     "unix",	     "unix run/a",	"unix /run/",	    "unix /etc/a",     "unix /run/../a",
					     "unix /run/a/",  "unix /run//a",	"unix /run/a/b/c",  "unix /run/bootlab/a", "unix /run/bootlab", "tcp 80 90",
					     "unix /run/a 8", "unix /run/a 01777", "unix /run/a 600 x", "sctp 80" };
	struct unit *unit = parse("exec /a\nlisten tcp 80\nlisten udp 10.0.0.1:53\nlisten tcp [2001:db8::1]:8080\n"
				  "listen unix /run/a/b 0640\nlisten unix /run/c\n");
	char text[64], long_path[400];

	CHECK(unit && !*complaints && !unit->broken && unit->n_sockets == 5 && units.n_sockets == 5);
	CHECK(units.sockets[0].everywhere && units.sockets[0].at.in6.sin6_port == htons(80));
	CHECK(units.sockets[1].type == SOCK_DGRAM && units.sockets[1].at.in.sin_addr.s_addr == htonl(0x0a000001));
	CHECK(units.sockets[2].at.any.sa_family == AF_INET6 && units.sockets[2].at.in6.sin6_addr.s6_addr[15] == 1);
	CHECK(!strcmp(units.sockets[3].at.local.sun_path, "/run/a/b") && units.sockets[3].mode == 0640);
	CHECK(units.sockets[4].mode == 0666 && !strcmp(units.sockets[4].text, "unix /run/c"));
	for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
		snprintf(text, sizeof text, "exec /a\nlisten %s\n", WRONG[i]);
		unit = parse(text);
		if (!unit->broken)
			fprintf(stderr, "taken: %s\n", text);
		CHECK(unit->broken && unit->n_sockets == 0);
		CHECK(!strcmp(complaints, "u.unit:2: listen: expected tcp [ADDRESS:]PORT, udp [ADDRESS:]PORT, or unix "
					  "/run/[FOLDER/]NAME [MODE]\n"));
	}
	snprintf(long_path, sizeof long_path, "exec /a\nlisten unix /run/%0120d\n", 0);
	CHECK(parse(long_path)->broken);
	unit = parse("exec /a\nready fd 4\nlisten tcp 80\nlisten tcp 81\n");
	CHECK(unit->broken && !strcmp(complaints, "u.unit:0: ready fd 4: descriptors 3 to 4 are its sockets\n"));
	unit = parse("pre /a\nneeds b\nlisten tcp 80\n");
	CHECK(unit->broken && !strcmp(complaints, "u.unit:0: listen: no exec line, whose program would get the sockets\n"));
	unit = parse("exec /a\nlisten tcp 80\nlisten udp 80\nlisten tcp 80\n");
	CHECK(unit->broken && !strcmp(complaints, "u.unit:4: listen: expected an address that no other listen line has\n"));
	memcpy(long_path, "exec /a\n", 9);
	for (int i = 1; i <= MAX_UNIT_SOCKETS + 1; i++)
		snprintf(long_path + strlen(long_path), sizeof long_path - strlen(long_path), "listen tcp %d\n", i);
	unit = parse(long_path);
	CHECK(unit->broken && !strcmp(complaints, "u.unit:18: listen: expected no more than 16 of them\n"));
	begin();
	unit = NULL;
	for (int i = 0; i <= MAX_SOCKETS; i++) {
		char name[16];

		snprintf(name, sizeof name, "unit%d", i);
		snprintf(text, sizeof text, "exec /a\nlisten tcp %d\n", i + 1);
		unit = unit_file_parse(&units, slice_of(name), name, text, strlen(text));
	}
	CHECK(unit->broken && units.n_sockets == MAX_SOCKETS);
	CHECK(!strcmp(complaints, "unit4096:0: no room for more than 4096 sockets of all units together: unit4096 is not started\n"));
}

static void test_a_group_needs_no_program(void)
{
	struct unit *unit = parse("needs a b\n");

	CHECK(unit && !*complaints && !unit->broken && unit->n_commands == 0 && unit->readiness == READY_EXIT);
}

/* When a table is full, each that is left out is named, and what is there stays right. */
static void test_no_room(void)
{
	static const char LEFT_OUT[] = "no room for more than 16384 units, and 16777216 bytes of their texts: it is left out\n";
	char name[16], expected[256];

	begin();
	for (int i = 0; i < MAX_UNITS + 2; i++) {
		snprintf(name, sizeof name, "unit%d", i);
		unit_file_parse(&units, slice_of(name), name, "exec /a\n", 8);
	}
	CHECK(units.n_units == MAX_UNITS && units.n_left_out == 2);
	snprintf(expected, sizeof expected, "unit16384:0: %sunit16385:0: %s", LEFT_OUT, LEFT_OUT);
	CHECK(!strcmp(complaints, expected));
	CHECK(unit_named("unit0") && unit_named("unit16383") && !unit_named("unit16384"));
}

static void test_config(void)
{
	static const char TEXT[] = "goal camera ui\nstarting 4\nlevel 3\nlsb no\nconsole info\non-failure shell\n"
				   "emergency /bin/sh\nshutdown-timeout 5s\nwatchdog /dev/watchdog 30s\n"
				   "address eth0 10.0.2.15/24 10.0.2.2\nsysctl net.ipv4.ip_forward 1\n";
	static char *const ENVIRONMENT[] = { "HOME=/", "bootlab_goal=a,b", "bootlab_starting=x", NULL };
	struct config config;

	begin();
	config_init(&config);
	config_parse(&config, &units, "init.conf", TEXT, sizeof TEXT - 1);
	CHECK(!*complaints && config.n_goals == 2 && config.starting == 4 && config.level == '3' && !config.lsb);
	CHECK(!config.quiet && config.on_failure == FAILURE_SHELL && config.shutdown_timeout_ns == 5000000000);
	CHECK(config.n_settings == 2 && config.settings[0].n_words == 3 && !strcmp(config.settings[0].key, "address"));
	config_environment(&config, &units, ENVIRONMENT);
	CHECK(config.n_goals == 2 && !strcmp(config.goals[1], "b") && config.starting == 4);
	CHECK(!strcmp(complaints, "kernel command line:0: starting: expected auto, or a number from 1 to 1000\n"));
	begin();
	config_parse(&config, &units, "init.conf", "gaol a\nwatchdog /dev/w 1s\nlevel 6\n", 34);
	CHECK(!strcmp(complaints, "init.conf:1: gaol: unknown key; the line is ignored\n"
				  "init.conf:2: watchdog: expected a device and a time of 2 s or more: /dev/watchdog 30s\n"
				  "init.conf:3: level: expected a runlevel from 2 to 5\n"));
}

int main(void)
{
	test_a_whole_file();
	test_mistakes();
	test_where_sockets_listen();
	test_a_group_needs_no_program();
	test_no_room();
	test_config();
	puts("test_unit_file: ok");
	return 0;
}
