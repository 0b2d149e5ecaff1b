/* SPDX-License-Identifier: MIT */
/* Reads conditions of units out of both formats, and looks whether they hold. */
#include "conditions.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "shared/files.h"
#include "shared/large.h"

enum { COMMAND_LINE_BYTES = 4096, NAMES_BYTES = 1 << 16 };

static const struct {
	const char *own, *systemd;
} KINDS[] = {
	[CONDITION_PATH] = { "path", "PathExists" },
	[CONDITION_KERNEL_WORD] = { "kernel-word", "KernelCommandLine" },
	[CONDITION_ARCHITECTURE] = { "architecture", "Architecture" },
	[CONDITION_FOLDER] = { NULL, "PathIsDirectory" },
	[CONDITION_LINK] = { NULL, "PathIsSymbolicLink" },
	[CONDITION_WRITABLE] = { NULL, "PathIsReadWrite" },
	[CONDITION_FILE_NOT_EMPTY] = { NULL, "FileNotEmpty" },
	[CONDITION_FILE_EXECUTABLE] = { NULL, "FileIsExecutable" },
	[CONDITION_FOLDER_NOT_EMPTY] = { NULL, "DirectoryNotEmpty" },
	[CONDITION_CONTAINER] = { NULL, "Virtualization" },
};
enum { N_KINDS = sizeof KINDS / sizeof KINDS[0] };

/* uname's names of the machine, in the words of both formats. */
static const struct {
	const char *machine, *architecture;
} ARCHITECTURES[] = {
	{ "x86_64", "x86-64" }, { "aarch64", "arm64" }, { "riscv64", "riscv64" }, { "i686", "x86" },	  { "i586", "x86" },
	{ "i386", "x86" },	{ "s390x", "s390x" },	{ "ppc64le", "ppc64-le" }, { "loongarch64", "loongarch64" },
};

static bool is_architecture(const char *name)
{
	if (!strcmp(name, "native") || !strcmp(name, "arm"))
		return true;
	for (size_t i = 0; i < sizeof ARCHITECTURES / sizeof ARCHITECTURES[0]; i++)
		if (!strcmp(name, ARCHITECTURES[i].architecture))
			return true;
	return false;
}

static const char *check(const struct condition *condition)
{
	switch (condition->kind) {
	case CONDITION_KERNEL_WORD:
		return *condition->text && !strpbrk(condition->text, " \t\"") ? NULL : "one word, or NAME=VALUE";
	case CONDITION_ARCHITECTURE:
		return is_architecture(condition->text) ? NULL : "an architecture: x86-64, x86, arm64, arm, riscv64, s390x, ppc64-le";
	case CONDITION_CONTAINER:
		return !strcmp(condition->text, "container") ? NULL : "container, the only thing that is looked for here";
	default:
		return condition->text[0] == '/' ? NULL : "a full path";
	}
}

static const char *add(struct units *units, struct unit *unit, struct slice text, struct slice said, struct condition how)
{
	struct condition *condition = arena_take(&units->arena, sizeof *condition), **end = &unit->conditions;
	const char *expected;

	how.text = arena_text(&units->arena, text.at, text.size);
	how.said = arena_text(&units->arena, said.at, said.size);
	if (!condition || !how.text || !how.said)
		return "less: there is no room for it";
	expected = check(&how);
	if (expected)
		return expected;
	while (*end)
		end = &(*end)->next;
	*condition = how;
	*end = condition;
	return NULL;
}

const char *condition_add(struct units *units, struct unit *unit, struct slice value, unsigned line)
{
	struct condition how = { .line = (uint16_t)line };
	struct slice rest = value, word;

	if (word_next(&rest, &word) && slice_is(word, "not"))
		how.negated = word_next(&rest, &word);
	for (; how.kind <= CONDITION_ARCHITECTURE; how.kind++)
		if (slice_is(word, KINDS[how.kind].own))
			return add(units, unit, slice_trim(rest), value, how);
	return "[not] path /PATH, kernel-word WORD, or architecture NAME";
}

bool condition_add_service(struct units *units, struct unit *unit, struct slice kind, struct slice value, struct condition how,
			   const char **ret_expected)
{
	struct slice said = value;

	for (how.kind = 0; how.kind < N_KINDS && !slice_is(kind, KINDS[how.kind].systemd); how.kind++)
		;
	if (how.kind == N_KINDS)
		return false;
	for (; value.size > 0 && (value.at[0] == '|' || value.at[0] == '!'); value = slice_trim(slice_from(value, 1))) {
		how.one_of |= value.at[0] == '|';
		how.negated |= value.at[0] == '!';
	}
	/* Kinds of virtual machines are not told apart. */
	if (how.kind == CONDITION_CONTAINER && !slice_is(value, "container"))
		return false;
	*ret_expected = add(units, unit, value, said, how);
	return true;
}

/* NAME alone is there as NAME=VALUE, too. */
static bool has_kernel_word(const char *wanted)
{
	char text[COMMAND_LINE_BYTES];
	ssize_t size = file_read("/proc/cmdline", text, sizeof text);
	struct slice rest = { text, size > 0 ? (size_t)size : 0 }, word;

	while (word_next(&rest, &word)) {
		const char *equals = memchr(word.at, '=', word.size);

		if (slice_ends(word, "\n"))
			word.size--;
		if (slice_is(word, wanted) || (equals && slice_is((struct slice){ word.at, (size_t)(equals - word.at) }, wanted)))
			return true;
	}
	return false;
}

static bool is_machine(const char *architecture)
{
	struct utsname name;

	if (!strcmp(architecture, "native"))
		return true;
	if (uname(&name))
		return false;
	if (!strcmp(architecture, "arm"))
		return !strncmp(name.machine, "arm", 3);
	for (size_t i = 0; i < sizeof ARCHITECTURES / sizeof ARCHITECTURES[0]; i++)
		if (!strcmp(name.machine, ARCHITECTURES[i].machine))
			return !strcmp(architecture, ARCHITECTURES[i].architecture);
	return !strcmp(architecture, name.machine);
}

static bool has_names(const char *folder)
{
	LARGE static char names[NAMES_BYTES];
	struct arena arena = { .bytes = names, .size = sizeof names };
	struct listing listing;

	return folder_list(folder, &arena, &listing) == 0 && listing.n + listing.left_out > 0;
}

static bool holds(const struct condition *condition)
{
	const char *text = condition->text, *container;
	struct stat found;

	switch (condition->kind) {
	case CONDITION_KERNEL_WORD:
		return has_kernel_word(text);
	case CONDITION_ARCHITECTURE:
		return is_machine(text);
	case CONDITION_FOLDER:
		return stat(text, &found) == 0 && S_ISDIR(found.st_mode);
	case CONDITION_LINK:
		return lstat(text, &found) == 0 && S_ISLNK(found.st_mode);
	case CONDITION_WRITABLE:
		return access(text, W_OK) == 0;
	case CONDITION_FILE_NOT_EMPTY:
		return stat(text, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0;
	case CONDITION_FILE_EXECUTABLE:
		return stat(text, &found) == 0 && S_ISREG(found.st_mode) && (found.st_mode & 0111);
	case CONDITION_FOLDER_NOT_EMPTY:
		return has_names(text);
	case CONDITION_CONTAINER:
		container = getenv("container");
		return container && *container;
	default:
		return file_exists(text);
	}
}

const struct condition *condition_unmet(const struct unit *unit)
{
	const struct condition *none_of = NULL;
	bool one_holds = false;

	for (const struct condition *condition = unit->conditions; condition; condition = condition->next) {
		bool is_met = holds(condition) != condition->negated;

		if (!condition->one_of && !is_met)
			return condition;
		one_holds |= condition->one_of && is_met;
		if (condition->one_of && !none_of)
			none_of = condition;
	}
	return one_holds ? NULL : none_of;
}
