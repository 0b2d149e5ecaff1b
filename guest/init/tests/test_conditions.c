/* SPDX-License-Identifier: MIT */
/* Tests how conditions of units are read from both formats, and when they hold on this machine. */
#include <sys/utsname.h>
#include <unistd.h>

#include "check.h"
#include "units/conditions.h"
#include "units/service_file.h"
#include "units/unit_file.h"

static struct unit *own(const char *lines)
{
	char text[512];

	begin();
	snprintf(text, sizeof text, "exec /a\n%s\n", lines);
	return unit_file_parse(&units, slice_of("u"), "u.unit", text, strlen(text));
}

static struct unit *service(const char *lines)
{
	struct unit *unit;
	char text[512];

	begin();
	snprintf(text, sizeof text, "[Unit]\n%s\n[Service]\nExecStart=/a\n", lines);
	unit = service_file_begin(&units, slice_of("s"), "s.service");
	service_file_read("s.service", text, strlen(text));
	service_file_finish();
	return unit;
}

static bool is_started(const struct unit *unit)
{
	CHECK(unit && unit->conditions && !unit->broken && !*complaints);
	return !condition_unmet(unit);
}

static void test_own_units(void)
{
	static const char *const WRONG[] = { "condition", "condition not", "condition path run", "condition color red", "condition kernel-word a b",
					     "condition kernel-word", "condition architecture pdp11" };

	CHECK(is_started(own("condition path /")) && !is_started(own("condition not path /")));
	CHECK(!is_started(own("condition path /no/such/file")) && is_started(own("condition not path /no/such/file")));
	/* All of them have to hold; the first that does not is told. */
	CHECK(!strcmp(condition_unmet(own("condition path /\ncondition not path /tmp"))->said, "not path /tmp"));
	CHECK(condition_unmet(own("condition path /\ncondition not path /tmp"))->line == 3);
	CHECK(!is_started(own("condition kernel-word no-such-word-on-any-machine")));
	CHECK(is_started(own("condition not kernel-word no-such-word-on-any-machine=1")));
	for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
		const struct unit *unit = own(WRONG[i]);

		if (!unit->broken)
			fprintf(stderr, "taken: %s\n", WRONG[i]);
		CHECK(unit->broken && strstr(complaints, "u.unit:2: condition: expected "));
	}
}

static void test_the_architecture(void)
{
	struct utsname name;

	CHECK(uname(&name) == 0);
	if (!strcmp(name.machine, "x86_64"))
		CHECK(is_started(own("condition architecture x86-64")) && !is_started(own("condition architecture arm64")));
	CHECK(is_started(service("ConditionArchitecture=native")) && !is_started(service("ConditionArchitecture=!native")));
	CHECK(!is_started(own("condition architecture s390x")) && !is_started(own("condition architecture arm")));
}

static void test_services(void)
{
	char folder[] = "/tmp/test_conditions.XXXXXX", line[128];

	CHECK(mkdtemp(folder));
	CHECK(!is_started(service("ConditionPathExists=/no/such/file")) && is_started(service("ConditionPathExists=!/no/such/file")));
	CHECK(is_started(service("ConditionPathIsDirectory=/tmp")) && !is_started(service("ConditionPathIsSymbolicLink=/")));
	CHECK(!is_started(service("ConditionFileNotEmpty=/dev/null")) && is_started(service("ConditionFileIsExecutable=/bin/sh")));
	snprintf(line, sizeof line, "ConditionDirectoryNotEmpty=%s", folder);
	CHECK(!is_started(service(line)) && is_started(service("ConditionDirectoryNotEmpty=/")));
	rmdir(folder);
	/* Of those with a | one is enough. */
	CHECK(is_started(service("ConditionPathExists=|/no/such\nConditionPathExists=|/\nConditionPathExists=/tmp")));
	CHECK(!is_started(service("ConditionPathExists=|/no/such\nConditionPathExists=|!/\nConditionPathExists=/tmp")));
	/* An empty one takes back all. */
	CHECK(!service("ConditionPathExists=/no\nConditionPathExists=\n")->conditions);
	CHECK(condition_unmet(service("AssertPathExists=/no/such/file"))->must);
	/* What is not known here is said, and does not count. */
	CHECK(!service("ConditionVirtualization=kvm")->conditions && strstr(complaints, "ConditionVirtualization:2"));
	CHECK(!service("ConditionACPower=true")->conditions && strstr(complaints, "ConditionACPower:2"));
	CHECK(service("ConditionPathExists=relative")->broken && strstr(complaints, "s.service:2: Condition: expected a full path"));
	unsetenv("container");
	CHECK(is_started(service("ConditionVirtualization=!container")));
	setenv("container", "test", 1);
	CHECK(!is_started(service("ConditionVirtualization=!container")));
}

int main(void)
{
	test_own_units();
	test_the_architecture();
	test_services();
	puts("test_conditions: ok");
	return 0;
}
