/* SPDX-License-Identifier: MIT */
/* A copy of a unit has all that its file says, nothing of it where the original was; and says when it does not fit. */
#include "check.h"
#include "units/conditions.h"
#include "units/confinement.h"
#include "units/copy.h"
#include "units/unit_file.h"

static const char FULL[] =
	"exec /bin/a b 'c d'\nuser nobody\ngroup games\ndirectory /tmp\npidfile /run/a\ntty /dev/tty1\nmark ready\n"
	"env A=1 B=2\nenv-file /etc/a -/etc/b\nrun-folder x y\nlimit-nofile 10:20\ncondition path /a\ncondition not path /b\n";

static char bytes[1 << 14];

static bool is_outside(const void *what)
{
	return (const char *)what < units.memory || (const char *)what >= units.memory + sizeof units.memory;
}

static bool copy(size_t room, struct unit *unit, struct command *command)
{
	struct arena arena = { .bytes = bytes, .size = room };

	return copy_unit(&arena, &units.unit[0], unit) && copy_command(&arena, &units.commands[0], command);
}

int main(void)
{
	struct command command;
	struct unit unit;
	size_t least = 0;

	begin();
	CHECK(unit_file_parse(&units, slice_of("a"), "/etc/a.unit", FULL, strlen(FULL)));
	CHECK(!*complaints);
	CHECK(copy(sizeof bytes, &unit, &command));
	CHECK(is_outside(unit.name) && !strcmp(unit.name, "a") && is_outside(unit.path) && !strcmp(unit.path, "/etc/a.unit"));
	CHECK(is_outside(unit.user) && !strcmp(unit.user, "nobody") && !strcmp(unit.group, "games"));
	CHECK(!strcmp(unit.directory, "/tmp") && !strcmp(unit.pidfile, "/run/a") && !strcmp(unit.tty, "/dev/tty1"));
	CHECK(is_outside(unit.mark) && !strcmp(unit.mark, "ready"));
	CHECK(is_outside(unit.environment) && is_outside(unit.environment[1]) && !strcmp(unit.environment[1], "B=2") && !unit.environment[2]);
	CHECK(is_outside(unit.environment_files[0]) && !strcmp(unit.environment_files[1], "-/etc/b"));
	CHECK(is_outside(unit.run_folders[1]) && !strcmp(unit.run_folders[1], "y"));
	CHECK(is_outside(unit.confinement) && unit.confinement->resources[7].soft == 10);
	CHECK(is_outside(unit.conditions) && is_outside(unit.conditions->text) && is_outside(unit.conditions->said));
	CHECK(is_outside(unit.conditions->next) && is_outside(unit.conditions->next->text) && !unit.conditions->next->next);
	CHECK(is_outside(command.argv) && is_outside(command.argv[2]) && !strcmp(command.argv[2], "c d") && !command.argv[3]);
	/* However little room there is: said, and nothing written behind it. */
	while (!copy(least, &unit, &command))
		least++;
	CHECK(least > 200 && least < 2000);
	puts("test_copy: ok");
	return 0;
}
