/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the lines of the config that only a profile has. */
#include "profile_lines.h"

#include <stdlib.h>
#include <string.h>

static int read_functions(struct line *line, struct config *config)
{
	if (line->n_words < 2)
		return line_complain(line, "expected: functions PATH");
	if (config->functions)
		return line_complain(line, "a second functions line");
	return line_read_rest(line, 1, &config->functions);
}

static int read_hook(struct line *line, struct config *config)
{
	static const char *const kinds[HOOK_KINDS] = {
		[HOOK_SWITCH] = "switch",
		[HOOK_WAKE] = "wake",
		[HOOK_FORK] = "fork",
		[HOOK_EXEC] = "exec",
		[HOOK_COMMAND] = "command",
		[HOOK_COMM] = "comm",
		[HOOK_EXIT] = "exit",
		[HOOK_INITCALL] = "initcall",
		[HOOK_CONSOLE_INITCALLS] = "console_initcalls",
		[HOOK_PROBE] = "probe",
		[HOOK_DEFER] = "defer",
		[HOOK_MODULE] = "module",
		[HOOK_UNMAP_MODULE] = "unmap_module",
		[HOOK_BLOCK_ISSUE] = "block_issue",
		[HOOK_BLOCK_DONE] = "block_done",
		[HOOK_MAP] = "map",
		[HOOK_MAP_SPECIAL] = "map_special",
		[HOOK_OPEN] = "open",
		[HOOK_LOOKUP] = "lookup",
		[HOOK_RELOCATE] = "relocate",
	};
	struct hook hook;
	int r;

	if (line->n_words < 3 || line->n_words > 4)
		return line_complain(line, "expected: hook KIND ADDRESS");
	for (hook.kind = 0; hook.kind < HOOK_KINDS; hook.kind++)
		if (!strcmp(line->words[1], kinds[hook.kind]))
			break;
	if (hook.kind == HOOK_KINDS)
		return line_complain(line, "unknown hook '%.80s'", line->words[1]);
	if ((hook.kind == HOOK_RELOCATE) != (line->n_words == 4))
		return line_complain(line, "expected: hook KIND ADDRESS, or hook relocate ADDRESS FROM");
	r = line_read_address(line, line->words[2], &hook.address);
	if (!r && hook.kind == HOOK_RELOCATE)
		r = line_read_address(line, line->words[3], &config->relocated_from);
	return r ? r : line_append(line, &config->hooks, &config->n_hooks, &hook, sizeof hook);
}

static int read_offset(struct line *line, struct config *config)
{
	struct offset offset;
	int r;

	if (line->n_words != 3)
		return line_complain(line, "expected: offset NAME VALUE");
	if ((r = line_read_name(line, line->words[1], offset.name)) || (r = line_read_decimal(line, line->words[2], &offset.value)))
		return r;
	return line_append(line, &config->offsets, &config->n_offsets, &offset, sizeof offset);
}

static int read_span(struct line *line, struct config *config)
{
	if (line->n_words != 2)
		return line_complain(line, "expected: span NS");
	return line_read_decimal(line, line->words[1], &config->span_ns);
}

static int read_object(struct line *line, struct config *config)
{
	struct object object;
	int r;

	if (line->n_words < 3)
		return line_complain(line, "expected: object NAME PATH");
	if ((r = line_read_name(line, line->words[1], object.name)) || (r = line_read_rest(line, 2, &object.path)))
		return r;
	r = line_append(line, &config->objects, &config->n_objects, &object, sizeof object);
	if (r)
		free(object.path);
	return r;
}

static int read_program(struct line *line, struct config *config)
{
	struct program program = { .loads = !strcmp(line->words[0], "loader") };
	int r;

	if (line->n_words != 6)
		return line_complain(line, "expected: %s NAME BEFORE SIZE ADDRESS CODE", line->words[0]);
	if ((r = line_read_name(line, line->words[1], program.name)) || (r = line_read_decimal(line, line->words[2], &program.before)) ||
	    (r = line_read_decimal(line, line->words[3], &program.size)) ||
	    (r = line_read_address(line, line->words[4], &program.entry)) || (r = line_read_code(line, line->words[5], &program.code)))
		return r;
	if (program.before >= program.size)
		return line_complain(line, "%s %s: its entry is behind its end", line->words[0], program.name);
	return line_append(line, &config->programs, &config->n_programs, &program, sizeof program);
}

static int read_cutlines(struct line *line, struct config *config)
{
	if (line->n_words != 1)
		return line_complain(line, "cutlines takes no words");
	config->cut_lines = true;
	return 0;
}

static int read_traps(struct line *line, struct config *config)
{
	if (line->n_words != 1)
		return line_complain(line, "traps takes no words");
	if (config->arch != ARCH_X86_64 && config->arch != ARCH_AARCH64)
		return line_complain(line, "traps: those of x86_64 and aarch64 alone are known");
	config->count_traps = true;
	return 0;
}

bool profile_lines_read(struct line *line, struct config *config, int *ret)
{
	static const struct {
		const char *word;
		int (*read)(struct line *line, struct config *config);
	} keywords[] = {
		{ "functions", read_functions }, { "object", read_object }, { "hook", read_hook },
		{ "offset", read_offset },	 { "span", read_span },	    { "cutlines", read_cutlines },
		{ "traps", read_traps },	 { "program", read_program },
		{ "loader", read_program },
	};

	for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
		if (!strcmp(line->words[0], keywords[i].word)) {
			*ret = keywords[i].read(line, config);
			return true;
		}
	return false;
}
