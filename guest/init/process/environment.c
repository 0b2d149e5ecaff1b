/* SPDX-License-Identifier: MIT */
#include "environment.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shared/files.h"
#include "units/lsb_unit.h"
#include "units/words.h"

enum { MAX_VARIABLES = 256, MAX_ARGUMENTS = 256, TEXT_BYTES = 1 << 16 };

static char *variables[MAX_VARIABLES + 1];
static size_t n_variables;
static char text_bytes[TEXT_BYTES];
static struct arena text = { .bytes = text_bytes, .size = TEXT_BYTES };

static bool add(const char *variable)
{
	const char *equals = strchr(variable, '=');
	size_t name = equals ? (size_t)(equals + 1 - variable) : 0;

	if (!equals)
		return true;
	for (size_t i = 0; i < n_variables; i++)
		if (!strncmp(variables[i], variable, name)) {
			variables[i] = (char *)variable;
			return true;
		}
	if (n_variables == MAX_VARIABLES)
		return false;
	variables[n_variables++] = (char *)variable;
	return true;
}

static bool add_pair(const char *name, const char *value)
{
	const char *variable = arena_join(&text, name, value);

	return variable && add(variable);
}

/* A file that cannot be read is not there. */
static bool add_file(const char *path)
{
	static char content[FILE_BYTES];
	ssize_t size = file_read(path, content, sizeof content);
	struct lines lines = lines_of(content, size > 0 ? (size_t)size : 0);
	struct slice line;

	while (line_next(&lines, &line)) {
		const char *words[MAX_WORDS];
		int n;

		line = slice_trim(line);
		if (line.size == 0 || line.at[0] == '#' || line.at[0] == ';')
			continue;
		n = words_parse(&text, line, words, MAX_WORDS);
		for (int i = 0; i < n; i++)
			if (!add(words[i]))
				return false;
	}
	return true;
}

char *const *environment_build(const struct unit *unit, pid_t main, const char *notify_name, unsigned n_sockets)
{
	char number[16];
	bool fits = add("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin") && add("HOME=/") &&
		    add_pair("TERM=", unit->tty ? "linux" : "dumb");

	snprintf(number, sizeof number, "%d", (int)main);
	if (unit->origin == ORIGIN_LSB)
		fits = fits && add("PREVLEVEL=N") && add(unit->levels & (1u << LEVEL_S) ? "RUNLEVEL=S" : "RUNLEVEL=2");
	if (main > 0)
		fits = fits && add_pair("MAINPID=", number);
	for (const char *const *variable = unit->environment; variable && *variable; variable++)
		fits = fits && add(*variable);
	if (unit->environment_file)
		fits = fits && add_file(unit->environment_file);
	if (notify_name)
		fits = fits && add_pair("NOTIFY_SOCKET=@", notify_name);
	if (n_sockets > 0) {
		snprintf(number, sizeof number, "%d", (int)getpid());
		fits = fits && add_pair("LISTEN_PID=", number);
		snprintf(number, sizeof number, "%u", n_sockets);
		fits = fits && add_pair("LISTEN_FDS=", number);
	}
	return fits ? variables : NULL;
}

static const char *value_of(struct slice name, char *const *environment)
{
	for (; *environment; environment++)
		if (!strncmp(*environment, name.at, name.size) && (*environment)[name.size] == '=')
			return *environment + name.size + 1;
	return "";
}

static bool is_name_character(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* ${NAME} anywhere in the word. */
static const char *expand_word(const char *word, char *const *environment)
{
	static char made[FILE_BYTES];
	const char *open, *close;
	size_t used = 0;

	while ((open = strstr(word, "${")) && (close = strchr(open, '}'))) {
		const char *value = value_of((struct slice){ open + 2, (size_t)(close - open - 2) }, environment);
		size_t before = (size_t)(open - word);

		if (used + before + strlen(value) >= sizeof made)
			return NULL;
		memcpy(made + used, word, before);
		memcpy(made + used + before, value, strlen(value));
		used += before + strlen(value);
		word = close + 1;
	}
	if (used + strlen(word) >= sizeof made)
		return NULL;
	memcpy(made + used, word, strlen(word));
	return arena_text(&text, made, used + strlen(word));
}

const char *const *environment_expand(const char *const *argv, char *const *environment)
{
	static const char *expanded[MAX_ARGUMENTS + 1];
	size_t n = 0;

	for (; *argv; argv++) {
		struct slice name = { *argv + 1, 0 };
		int words;

		while ((*argv)[0] == '$' && is_name_character(name.at[name.size]))
			name.size++;
		if (n == MAX_ARGUMENTS)
			return NULL;
		if (name.size == 0 || name.at[name.size]) {
			expanded[n] = expand_word(*argv, environment);
			if (!expanded[n++])
				return NULL;
			continue;
		}
		words = words_parse(&text, slice_of(value_of(name, environment)), expanded + n, MAX_ARGUMENTS - n);
		if (words < 0)
			return NULL;
		n += (size_t)words;
	}
	expanded[n] = NULL;
	return n > 0 ? expanded : NULL;
}
