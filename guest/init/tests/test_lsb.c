/* SPDX-License-Identifier: MIT */
/* Tests how init scripts are read: the header's block, what is none, names of scripts, facilities. */
#include "units/lsb_unit.h"

#include "check.h"
#include "units/lsb_header.h"

/* Blanks, tabs, keywords in other cases and continued descriptions, as Debian's scripts have them. */
static const char SCRIPT[] = "#!/bin/sh\n"
			     "### BEGIN INIT INFO   \n"
			     "# Provides:          bind bind9\n"
			     "# required-start:\t$remote_fs +syslog $all\n"
			     "# Should-stop: $network\n"
			     "# X-Start-Before: ntp\n"
			     "# X-Stop-After: dns-users\n"
			     "# Default-Start:     2 3 4 5\n"
			     "# Default-Stop:      0 1 6\n"
			     "# Short-Description: Domain: names\n"
			     "# Description:       Long\n"
			     "#  Note: this goes on\n"
			     "### END INIT INFO\n"
			     "# Provides: not-this\n";

static struct unit *parse(const char *name, const char *text)
{
	begin();
	return lsb_unit_parse(&units, &(struct lsb_source){ .script = slice_of(name),
							    .script_path = "/etc/init.d/x",
							    .header_path = "x",
							    .text = text,
							    .size = strlen(text) });
}

static void test_header(void)
{
	struct unit *unit = parse("named.sh", SCRIPT);

	CHECK(unit && !*complaints && unit->line == 2);
	CHECK(!unit_named("named") && unit_named("named.sh") == unit && unit_named("bind9") == unit);
	CHECK(!unit_named("not-this"));
	CHECK(unit->after_all && unit->levels == 0x3c && unit->stop_levels == 0x43 && !unit->enabled);
	CHECK(units.n_refs == 5);
	CHECK(!strcmp(units.refs[0].name, "$remote_fs") && units.refs[0].must_exist && units.refs[0].when == AT_START);
	CHECK(!strcmp(units.refs[1].name, "syslog") && !units.refs[1].must_exist);
	CHECK(!strcmp(units.refs[2].name, "ntp") && units.refs[2].reversed);
	CHECK(!strcmp(units.refs[3].name, "$network") && units.refs[3].when == AT_STOP && units.refs[3].line == 5);
	CHECK(!strcmp(units.refs[4].name, "dns-users") && units.refs[4].reversed && units.refs[4].when == AT_STOP);
	CHECK(!strcmp(units.commands[0].argv[0], "/etc/init.d/x") && !strcmp(units.commands[1].argv[1], "stop"));
}

static void test_what_is_no_header(void)
{
	CHECK(!parse("x", "#!/bin/sh\necho\n"));
	CHECK(!strcmp(complaints, "x:1: no INIT INFO header: not started; give it one, or /etc/insserv/overrides/x\n"));
	CHECK(!parse("x", "#!/sbin/openrc-run\n"));
	CHECK(!strcmp(complaints, "x:1: a script for OpenRC, without an INIT INFO header: not started\n"));
	CHECK(parse("x.sh", "### BEGIN INIT INFO\n# Provides: y x\n### END INIT INFO#\n") == unit_named("x"));
	CHECK(unit_named("x.sh") == unit_named("y") && !*complaints);
	CHECK(parse("x.sh", "### BEGIN INIT INFO\n# Should-Stop: $all\n### END INIT INFO\n") == unit_named("x"));
	CHECK(unit_named("x")->stops_first && !unit_named("x")->after_all);
	CHECK(!parse("x", "\n### BEGIN INIT INFO\n# Provides: a\n"));
	CHECK(!strcmp(complaints, "x:2: this INIT INFO header has no END: not started\n"));
	CHECK(parse("x", "### BEGIN INIT INFO\n# Required-Sart: a\n### END INIT INFO\n"));
	CHECK(!strcmp(complaints, "x:2: Required-Sart: unknown keyword; it is ignored\n"
				  "x:1: no Provides: it is known as x\n"));
}

static void test_names_of_scripts(void)
{
	static const char *const NONE[] = { "README", ".hidden", "a.dpkg-dist", "b~", "c.old", "rcS", "#x#", "y.rpmsave", "" };

	for (size_t i = 0; i < sizeof NONE / sizeof NONE[0]; i++)
		CHECK(!lsb_is_script_name(slice_of(NONE[i])));
	CHECK(lsb_is_script_name(slice_of("rc.local")) && lsb_is_script_name(slice_of("hwclock.sh")));
}

static void test_facilities(void)
{
	static const char CONF[] = "# comment\n$network networking +ifupdown\n<interactive> udev\nnetwork x\n$network +more\n";

	begin();
	facilities_parse(&units, "insserv.conf", CONF, sizeof CONF - 1);
	CHECK(unit_named("$network") && units.n_units == 1 && units.n_refs == 3);
	CHECK(!strcmp(units.refs[1].name, "ifupdown") && units.refs[1].relation == RELATION_MEMBER);
	CHECK(!strcmp(complaints, "insserv.conf:4: network: expected a facility such as $network, or <interactive>\n"));
	begin();
	facilities_default(&units);
	CHECK(units.n_units == 7 && !*complaints);
}

int main(void)
{
	test_header();
	test_what_is_no_header();
	test_names_of_scripts();
	test_facilities();
	puts("test_lsb: ok");
	return 0;
}
