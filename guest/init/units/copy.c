/* SPDX-License-Identifier: MIT */
/* Copies units and commands, so that nothing of the copy is where the original was. */
#include "copy.h"

#include <string.h>

#include "conditions.h"
#include "confinement.h"

static bool copy_text(struct arena *arena, const char **text)
{
	if (!*text)
		return true;
	*text = arena_text(arena, *text, strlen(*text));
	return *text;
}

static bool copy_words(struct arena *arena, const char *const **words)
{
	const char **copy;
	size_t n = 0;

	if (!*words)
		return true;
	while ((*words)[n])
		n++;
	copy = arena_take(arena, (n + 1) * sizeof *copy);
	if (!copy)
		return false;
	copy[n] = NULL;
	for (size_t i = 0; i < n; i++) {
		copy[i] = arena_text(arena, (*words)[i], strlen((*words)[i]));
		if (!copy[i])
			return false;
	}
	*words = copy;
	return true;
}

static bool copy_conditions(struct arena *arena, struct condition **link)
{
	for (; *link; link = &(*link)->next) {
		struct condition *copy = arena_take(arena, sizeof *copy);

		if (!copy)
			return false;
		*copy = **link;
		if (!copy_text(arena, &copy->text) || !copy_text(arena, &copy->said))
			return false;
		*link = copy;
	}
	return true;
}

bool copy_unit(struct arena *arena, const struct unit *from, struct unit *ret)
{
	const char **const texts[] = { &ret->name,    &ret->path, &ret->user, &ret->group, &ret->directory,
				       &ret->pidfile, &ret->tty,  &ret->mark, &ret->about };

	*ret = *from;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		if (!copy_text(arena, texts[i]))
			return false;
	if (from->confinement) {
		ret->confinement = arena_take(arena, sizeof *ret->confinement);
		if (!ret->confinement)
			return false;
		*ret->confinement = *from->confinement;
	}
	return copy_words(arena, &ret->environment) && copy_words(arena, &ret->run_folders) &&
	       copy_words(arena, &ret->environment_files) && copy_conditions(arena, &ret->conditions);
}

bool copy_command(struct arena *arena, const struct command *from, struct command *ret)
{
	*ret = *from;
	return copy_text(arena, &ret->path) && copy_words(arena, &ret->argv);
}
