/* SPDX-License-Identifier: MIT */
/* Reads the plan that bootlab-coldplug follows, from its text. */
#include "plan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/text.h"

struct reader {
	struct plan *plan;
	const char *name;
	uint32_t line;
	int wrong;
	bool no_memory;
};

__attribute__((format(printf, 2, 3))) static void complain(struct reader *reader, const char *format, ...)
{
	va_list words;

	fprintf(stderr, "coldplug: %s:%u: ", reader->name, reader->line);
	va_start(words, format);
	vfprintf(stderr, format, words);
	va_end(words);
	fputc('\n', stderr);
	reader->wrong++;
}

static char *copy(struct reader *reader, struct slice text)
{
	char *made = strndup(text.at, text.size);

	reader->no_memory |= !made;
	return made;
}

/* Room for one more element: a power of two, filled from the front. */
static void *grown(struct reader *reader, void *array, size_t n, size_t size)
{
	void *more;

	if (n & (n - 1))
		return array;
	more = reallocarray(array, n ? 2 * n : 1, size);
	reader->no_memory |= !more;
	return more;
}

static bool read_after(struct reader *reader, struct module *module, struct slice words)
{
	if (slice_is(words, "-"))
		return true;
	while (words.size > 0) {
		const char *comma = memchr(words.at, ',', words.size);
		size_t size = comma ? (size_t)(comma - words.at) : words.size;
		uint32_t *after = grown(reader, module->after, module->n_after, sizeof *after);
		int64_t number;

		if (!after)
			return false;
		module->after = after;
		if (parse_number((struct slice){ words.at, size }, 0, (int64_t)reader->plan->n_modules - 1, &number)) {
			complain(reader, "%.*s: not the number of an earlier module", (int)size, words.at);
			return false;
		}
		after[module->n_after++] = (uint32_t)number;
		words = slice_from(words, comma ? size + 1 : size);
	}
	return true;
}

static void free_module(struct module *module)
{
	free(module->path);
	free(module->parameters);
	free(module->after);
}

/* A module keeps its number even when its line is wrong, so that the others' stay right; it is one without a file then. */
static void read_module(struct reader *reader, struct slice rest)
{
	struct plan *plan = reader->plan;
	struct module module = { .line = reader->line }, *modules;
	struct slice path, after;

	if (!word_next(&rest, &path) || path.at[0] != '/' || !word_next(&rest, &after)) {
		complain(reader, "expected: module /FILE AFTER [PARAMETERS]");
	} else if (read_after(reader, &module, after)) {
		module.path = copy(reader, path);
		module.parameters = copy(reader, slice_trim(rest));
	}
	modules = grown(reader, plan->modules, plan->n_modules, sizeof *modules);
	if (!modules)
		return free_module(&module);
	plan->modules = modules;
	modules[plan->n_modules++] = module;
	plan->n_first += !plan->background;
}

static void read_wait(struct reader *reader, struct slice rest)
{
	struct plan *plan = reader->plan;
	struct awaited device = { .line = reader->line }, *devices;
	struct slice path, timeout;

	if (!word_next(&rest, &path) || path.at[0] != '/' || !word_next(&rest, &timeout) ||
	    parse_duration(timeout, &device.timeout_ns) || slice_trim(rest).size > 0)
		return complain(reader, "expected: wait /DEVICE DURATION");
	device.path = copy(reader, path);
	devices = grown(reader, plan->devices, plan->n_devices, sizeof *devices);
	if (!devices)
		return free(device.path);
	plan->devices = devices;
	devices[plan->n_devices++] = device;
}

int plan_read(struct plan *plan, const char *text, size_t size, const char *name)
{
	struct reader reader = { .plan = plan, .name = name };
	struct lines lines = lines_of(text, size);
	struct slice line, word;

	while (!reader.no_memory && line_next(&lines, &line)) {
		reader.line = lines.number;
		if (!word_next(&line, &word) || word.at[0] == '#')
			continue;
		if (slice_is(word, "module"))
			read_module(&reader, line);
		else if (slice_is(word, "wait"))
			read_wait(&reader, line);
		else if (slice_is(word, "serial") && slice_trim(line).size == 0)
			plan->serial = true;
		else if (slice_is(word, "background") && slice_trim(line).size == 0)
			plan->background = true;
		else
			complain(&reader, "%.*s: expected module, wait, background or serial", (int)word.size, word.at);
	}
	return reader.no_memory ? -ENOMEM : reader.wrong;
}

void plan_free(struct plan *plan)
{
	for (size_t i = 0; i < plan->n_modules; i++)
		free_module(&plan->modules[i]);
	for (size_t i = 0; i < plan->n_devices; i++)
		free(plan->devices[i].path);
	free(plan->modules);
	free(plan->devices);
	*plan = (struct plan){ 0 };
}
