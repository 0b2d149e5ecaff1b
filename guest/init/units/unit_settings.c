/* SPDX-License-Identifier: MIT */
/* Sets what unit files of several formats can ask for: environment, folders, numbers, flags. */
#include "unit_settings.h"

#include <errno.h>
#include <string.h>

#include "words.h"

bool environment_add(struct units *units, struct environment_words *environment, struct slice value)
{
	const char **words = environment->word + environment->n;
	int n = words_parse(&units->arena, value, words, MAX_WORDS - environment->n);

	for (int i = 0; i < n; i++)
		if (!strchr(words[i], '=') || words[i][0] == '=')
			return false;
	if (n < 0)
		return false;
	environment->n += (size_t)n;
	return true;
}

void environment_give(struct units *units, struct unit *unit, const struct environment_words *environment)
{
	if (environment->n > 0)
		unit->environment = units_words(units, environment->word, environment->n);
}

void unit_names_add(struct units *units, struct unit *unit, struct slice value, const char *suffix, unsigned line)
{
	struct slice name;

	while (word_next(&value, &name)) {
		if (slice_ends(name, suffix))
			name.size -= strlen(suffix);
		units_name(units, unit, name, line);
	}
}

const char *unit_run_folders_set(struct units *units, struct unit *unit, struct slice value)
{
	const char *words[MAX_WORDS];
	int n = words_parse(&units->arena, value, words, MAX_WORDS);

	for (int i = 0; i < n; i++)
		if (words[i][0] == '/' || strstr(words[i], "..") || !*words[i])
			n = -EINVAL;
	if (n <= 0)
		return "names of folders below /run";
	unit->run_folders = units_words(units, words, (size_t)n);
	return NULL;
}

const char *unit_environment_files_add(struct units *units, struct unit *unit, struct slice value)
{
	const char *words[MAX_WORDS];
	size_t n = 0;
	int added;

	for (const char *const *file = unit->environment_files; file && *file; file++)
		words[n++] = *file;
	added = words_parse(&units->arena, value, words + n, MAX_WORDS - n);
	if (added <= 0)
		return "full paths of files";
	for (size_t i = n; i < n + (size_t)added; i++)
		if (words[i][words[i][0] == '-'] != '/' || strpbrk(words[i], "*?["))
			return "full paths of files, without patterns";
	unit->environment_files = units_words(units, words, n + (size_t)added);
	return NULL;
}

int unit_mode_parse(struct slice value, unsigned most, uint16_t *ret)
{
	uint16_t mode = 0;

	for (size_t i = 0; i < value.size; i++) {
		if (value.at[i] < '0' || value.at[i] > '7')
			return -EINVAL;
		mode = (uint16_t)(mode * 8 + (value.at[i] - '0'));
	}
	if (value.size == 0 || value.size > 5 || mode > most)
		return -EINVAL;
	*ret = mode;
	return 0;
}

const char *unit_umask_set(struct unit *unit, struct slice value)
{
	return unit_mode_parse(value, 0777, &unit->umask) ? "octal digits, as 0077" : NULL;
}

const char *unit_number_set(struct unit *unit, struct slice value, enum unit_number which)
{
	static const struct {
		int64_t least, most;
		const char *expected;
	} RANGES[] = {
		[NUMBER_NICE] = { -20, 19, "a number from -20 (first) to 19" },
		[NUMBER_OOM] = { -1000, 1000, "a number from -1000 (never killed) to 1000" },
		[NUMBER_RESTART_LIMIT] = { 0, 1000000, "a number of restarts (0: no limit)" },
	};
	int64_t number;

	if (parse_number(value, RANGES[which].least, RANGES[which].most, &number))
		return RANGES[which].expected;
	switch (which) {
	case NUMBER_NICE:
		unit->nice = (int)number;
		break;
	case NUMBER_OOM:
		unit->oom = (int)number;
		unit->oom_given = true;
		break;
	case NUMBER_RESTART_LIMIT:
		unit->restart_limit = (uint32_t)number;
		break;
	}
	return NULL;
}

const char *unit_flag_set(bool *flag, struct slice value, bool inverted)
{
	bool given;

	if (parse_bool(value, &given))
		return "yes or no";
	*flag = given != inverted;
	return NULL;
}
