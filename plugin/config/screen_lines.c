/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads how often the screen is looked at, which marks are seen on it, and what is typed. */
#include "screen_lines.h"

#include <inttypes.h>
#include <string.h>

/* An hour; and a side of a picture is below 2**15 (internals/display.c). */
static const uint64_t SPAN_MAX_NS = UINT64_C(3600) * 1000000000;
static const uint64_t SIDE_MAX = 32767, EVERY_MIN_NS = 100000;

static int read_span(struct line *line, const char *word, uint64_t least, uint64_t *ret)
{
	int r = line_read_decimal(line, word, ret);

	if (!r && (*ret < least || *ret > SPAN_MAX_NS))
		return line_complain(line, "%s: %s ns is not %" PRIu64 " to %" PRIu64, line->words[0], word, least, SPAN_MAX_NS);
	return r;
}

static int read_count(struct line *line, const char *word, uint64_t least, uint64_t most, uint64_t *ret)
{
	int r = line_read_decimal(line, word, ret);

	if (!r && (*ret < least || *ret > most))
		return line_complain(line, "%s %s: %s is not %" PRIu64 " to %" PRIu64, line->words[0], line->words[1], word, least, most);
	return r;
}

static struct screen_mark *find_mark(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->n_screen_marks; i++)
		if (!strcmp(config->screen_marks[i].name, name))
			return &config->screen_marks[i];
	return NULL;
}

static struct screen_typing *find_typing(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->n_screen_typings; i++)
		if (!strcmp(config->screen_typings[i].name, name))
			return &config->screen_typings[i];
	return NULL;
}

bool screen_lines_have(const struct config *config, const char *name)
{
	return find_mark(config, name) || find_typing(config, name);
}

static int read_screen(struct line *line, struct config *config)
{
	uint64_t every_ns, film_ns;
	int r;

	if (line->n_words != 3)
		return line_complain(line, "expected: screen EVERY_NS FILM_NS");
	if (config->screen_every_ns)
		return line_complain(line, "a second screen line");
	if ((r = read_span(line, line->words[1], EVERY_MIN_NS, &every_ns)) || (r = read_span(line, line->words[2], 0, &film_ns)))
		return r;
	config->screen_every_ns = every_ns;
	config->screen_film_ns = film_ns;
	return 0;
}

/* NAME and AFTER, of a mark or a typing. */
static int read_names(struct line *line, const struct config *config, char *name, char *after)
{
	int r;

	if (!config->screen_every_ns)
		return line_complain(line, "%s: there is no screen line before it", line->words[0]);
	if ((r = line_read_name(line, line->words[1], name)) || (r = line_read_name(line, line->words[2], after)))
		return r;
	if (screen_lines_have(config, name))
		return line_complain(line, "a second mark %s of the screen", name);
	if (!strcmp(after, "-"))
		after[0] = 0;
	return 0;
}

static int add_mark(struct line *line, struct config *config, struct screen_mark *mark)
{
	int r = read_names(line, config, mark->name, mark->after);

	return r ? r : line_append(line, &config->screen_marks, &config->n_screen_marks, mark, sizeof *mark);
}

static int read_painted(struct line *line, struct config *config)
{
	struct screen_mark mark = { .kind = SCREEN_PAINTED };
	uint64_t colours;
	int r;

	if (line->n_words != 5)
		return line_complain(line, "expected: painted NAME AFTER STAYS_NS COLOURS");
	if ((r = read_span(line, line->words[3], 0, &mark.stays_ns)) ||
	    (r = read_count(line, line->words[4], 1, SCREEN_COLOURS_MAX, &colours)))
		return r;
	mark.colours = (unsigned)colours;
	return add_mark(line, config, &mark);
}

static int read_pictured(struct line *line, struct config *config)
{
	struct screen_mark mark = { .kind = SCREEN_PICTURED };

	if (line->n_words != 3)
		return line_complain(line, "expected: pictured NAME AFTER");
	return add_mark(line, config, &mark);
}

static int read_answers(struct line *line, struct config *config)
{
	struct screen_mark mark = { .kind = SCREEN_ANSWERS };

	if (line->n_words != 3)
		return line_complain(line, "expected: answers NAME AFTER");
	return add_mark(line, config, &mark);
}

static int read_idle(struct line *line, struct config *config)
{
	struct screen_mark mark = { .kind = SCREEN_IDLE };
	uint64_t busy;
	int r;

	if (line->n_words != 5)
		return line_complain(line, "expected: idle NAME AFTER QUIET_NS BUSY");
	if ((r = read_span(line, line->words[3], 1, &mark.stays_ns)) || (r = read_count(line, line->words[4], 0, 1000, &busy)))
		return r;
	mark.busy_per_mille = (unsigned)busy;
	return add_mark(line, config, &mark);
}

static int find_named(struct line *line, const struct config *config, struct screen_mark **ret)
{
	*ret = find_mark(config, line->words[1]);
	return *ret ? 0 : line_complain(line, "%s %.80s: there is no mark of the screen of this name before it", line->words[0],
					line->words[1]);
}

static int read_region(struct line *line, struct config *config)
{
	struct screen_mark *mark;
	uint64_t x, y, width, height;
	int r;

	if (line->n_words != 6)
		return line_complain(line, "expected: region NAME X Y WIDTH HEIGHT");
	if ((r = find_named(line, config, &mark)) || (r = read_count(line, line->words[2], 0, SIDE_MAX, &x)) ||
	    (r = read_count(line, line->words[3], 0, SIDE_MAX, &y)) || (r = read_count(line, line->words[4], 1, SIDE_MAX, &width)) ||
	    (r = read_count(line, line->words[5], 1, SIDE_MAX, &height)))
		return r;
	mark->region = (struct screen_region){ (uint32_t)x, (uint32_t)y, (uint32_t)width, (uint32_t)height };
	return 0;
}

static int read_picture(struct line *line, struct config *config)
{
	struct screen_mark *mark;
	int r;

	if (line->n_words < 3)
		return line_complain(line, "expected: picture NAME PATH");
	if ((r = find_named(line, config, &mark)))
		return r;
	if (mark->kind != SCREEN_PICTURED || mark->picture)
		return line_complain(line, "picture %s: %s", mark->name, mark->picture ? "a second one" : "the mark is not a pictured one");
	return line_read_rest(line, 2, &mark->picture);
}

static int read_typed(struct line *line, struct config *config)
{
	struct screen_typing typing = { .n_keys = 0 };
	int r;

	if (line->n_words != 3)
		return line_complain(line, "expected: typed NAME AFTER");
	if ((r = read_names(line, config, typing.name, typing.after)))
		return r;
	return line_append(line, &config->screen_typings, &config->n_screen_typings, &typing, sizeof typing);
}

static int read_key(struct line *line, struct config *config)
{
	struct screen_typing *typing;
	struct screen_key key = { .t_ns = 0 };
	int r;

	if (line->n_words != 5 || (strcmp(line->words[4], "down") && strcmp(line->words[4], "up")))
		return line_complain(line, "expected: key NAME NS KEY down|up");
	typing = find_typing(config, line->words[1]);
	if (!typing)
		return line_complain(line, "key %.80s: there is no typed line of this name before it", line->words[1]);
	if ((r = read_span(line, line->words[2], 0, &key.t_ns)) || (r = line_read_name(line, line->words[3], key.name)))
		return r;
	if (typing->n_keys && typing->keys[typing->n_keys - 1].t_ns > key.t_ns)
		return line_complain(line, "key %s %s: before the key before it", typing->name, line->words[2]);
	key.down = !strcmp(line->words[4], "down");
	return line_append(line, &typing->keys, &typing->n_keys, &key, sizeof key);
}

bool screen_lines_read(struct line *line, struct config *config, int *ret)
{
	static const struct {
		const char *word;
		int (*read)(struct line *line, struct config *config);
	} keywords[] = {
		{ "screen", read_screen }, { "painted", read_painted }, { "pictured", read_pictured },
		{ "answers", read_answers }, { "idle", read_idle }, { "region", read_region },
		{ "picture", read_picture }, { "typed", read_typed }, { "key", read_key },
	};

	for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
		if (!strcmp(line->words[0], keywords[i].word)) {
			*ret = keywords[i].read(line, config);
			return true;
		}
	return false;
}
