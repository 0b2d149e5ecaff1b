/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follows each mark of the screen from the moment that it is looked for to the look that makes it. */
#include "watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_picture(const struct screen_mark *mark, char *message, size_t message_size, uint32_t **ret)
{
	size_t count = (size_t)mark->region.width * mark->region.height;
	uint32_t *pixels = malloc(count * sizeof *pixels);
	FILE *file = pixels ? fopen(mark->picture, "rbe") : NULL;
	int r = 0;

	if (!pixels) {
		r = -ENOMEM;
	} else if (!file) {
		r = -errno;
	} else if (fread(pixels, sizeof *pixels, count, file) != count || fgetc(file) != EOF) {
		r = -EINVAL;
	}
	if (file)
		fclose(file);
	if (r) {
		free(pixels);
		snprintf(message, message_size, "picture %s: %s: %s", mark->name, mark->picture,
			 r == -EINVAL ? "not as many pixels as its region" : strerror(-r));
		return r;
	}
	*ret = pixels;
	return 0;
}

int watch_open(const struct config *config, int shift, char *message, size_t message_size, struct watch *ret)
{
	struct watch watch = { .config = config, .hash = FRAME_HASH_START, .shift = shift };

	watch.marks = calloc(config->n_screen_marks + 1, sizeof *watch.marks);
	watch.typings = calloc(config->n_screen_typings + 1, sizeof *watch.typings);
	if (!watch.marks || !watch.typings) {
		watch_deinit(&watch);
		snprintf(message, message_size, "out of memory");
		return -ENOMEM;
	}
	for (size_t i = 0; i < config->n_screen_marks; i++) {
		const struct screen_mark *mark = &config->screen_marks[i];
		int r = mark->kind == SCREEN_PICTURED ? read_picture(mark, message, message_size, &watch.marks[i].picture) : 0;

		if (r) {
			watch_deinit(&watch);
			return r;
		}
		watch.marks[i].armed = watch.marks[i].fresh = !mark->after[0];
	}
	for (size_t i = 0; i < config->n_screen_typings; i++)
		watch.typings[i].armed = !config->screen_typings[i].after[0];
	*ret = watch;
	return 0;
}

void watch_deinit(struct watch *watch)
{
	for (size_t i = 0; watch->marks && i < watch->config->n_screen_marks; i++)
		free(watch->marks[i].picture);
	free(watch->marks);
	free(watch->typings);
	watch->marks = NULL;
	watch->typings = NULL;
}

void watch_follow(struct watch *watch, const char *name, int64_t t_ns)
{
	for (size_t i = 0; i < watch->config->n_screen_marks; i++)
		if (!watch->marks[i].armed && !strcmp(watch->config->screen_marks[i].after, name))
			watch->marks[i].armed = watch->marks[i].fresh = true;
	for (size_t i = 0; i < watch->config->n_screen_typings; i++)
		if (!watch->typings[i].armed && !strcmp(watch->config->screen_typings[i].after, name)) {
			watch->typings[i].armed = true;
			watch->typings[i].from_ns = t_ns;
		}
}

/* Whether processor and disks had nothing to do since the last look. */
static bool is_quiet(const struct watch *watch, const struct look *look, unsigned busy_per_mille)
{
	int64_t span_ns = look->at.t_ns - watch->latest.t_ns;
	int64_t busy_ns = ((look->at.instructions - watch->latest.instructions) << watch->shift) +
			  (look->at.charged_ns - watch->latest.charged_ns);

	return look->disk_requests == watch->latest_requests && busy_ns * 1000 <= span_ns * busy_per_mille;
}

/* Whether the frame is one that may be waited for to stay. */
static bool counts(const struct screen_mark *mark, const struct look *look)
{
	return frame_holds(look->frame, &mark->region) && frame_has_colours(look->frame, &mark->region, mark->colours);
}

static void begin(struct mark_state *state, const struct look *look)
{
	state->since = look->at;
	memcpy(state->since_reads, look->reads, sizeof state->since_reads);
}

static bool stays(const struct screen_mark *mark, struct mark_state *state, const struct look *look, bool as_before)
{
	if (!as_before) {
		state->holds = counts(mark, look);
		begin(state, look);
	}
	return state->holds && look->at.t_ns - state->since.t_ns >= (int64_t)mark->stays_ns;
}

/* Whether there is something to see of it: a region that is not on the screen neither changes nor stays. */
static bool is_there(const struct screen_mark *mark, const struct frame *frame)
{
	return !mark->region.width || frame_holds(frame, &mark->region);
}

static bool is_made(struct watch *watch, const struct screen_mark *mark, struct mark_state *state, const struct look *look)
{
	/* What was there before it was looked for is looked at anew. */
	bool fresh = state->fresh || !watch->looked;
	bool as_before = !fresh && (!look->changed || frame_same(look->frame, look->before, &mark->region));

	state->fresh = false;
	switch (mark->kind) {
	case SCREEN_PAINTED:
		return stays(mark, state, look, as_before);
	case SCREEN_PICTURED:
		begin(state, look);
		return !as_before && frame_holds(look->frame, &mark->region) && frame_shows(look->frame, &mark->region, state->picture);
	case SCREEN_ANSWERS:
		/* The look that armed it came before the key. */
		begin(state, look);
		return watch->looked && look->changed && is_there(mark, look->frame) &&
		       !frame_same(look->frame, look->before, &mark->region);
	case SCREEN_IDLE:
		if (!as_before || !is_there(mark, look->frame) || !is_quiet(watch, look, mark->busy_per_mille))
			begin(state, look);
		return look->at.t_ns - state->since.t_ns >= (int64_t)mark->stays_ns;
	}
	return false;
}

void watch_begin_look(struct watch *watch, const struct look *look)
{
	watch->looks++;
	if (!look->changed && watch->looked)
		return;
	watch->changes++;
	watch->hash = frame_hash(look->frame, watch->hash ^ (uint64_t)look->at.t_ns);
}

const struct screen_mark *watch_look(struct watch *watch, const struct look *look, struct stamp *ret,
				     const struct disk_count **ret_reads)
{
	for (size_t i = 0; i < watch->config->n_screen_marks; i++) {
		const struct screen_mark *mark = &watch->config->screen_marks[i];
		struct mark_state *state = &watch->marks[i];

		if (!state->armed || state->reached || state->looked_ns == look->at.t_ns + 1)
			continue;
		state->looked_ns = look->at.t_ns + 1;
		if (!is_made(watch, mark, state, look))
			continue;
		state->reached = true;
		*ret = state->since;
		*ret_reads = state->since_reads;
		return mark;
	}
	return NULL;
}

void watch_end_look(struct watch *watch, const struct look *look)
{
	watch->looked = true;
	watch->latest = look->at;
	watch->latest_requests = look->disk_requests;
}

void watch_count_reads_anew(struct watch *watch, const struct disk_count *before)
{
	for (size_t i = 0; i < watch->config->n_screen_marks; i++)
		for (size_t k = 0; k < COUNTED_DISKS_MAX; k++) {
			watch->marks[i].since_reads[k].bytes -= before[k].bytes;
			watch->marks[i].since_reads[k].requests -= before[k].requests;
		}
}

/* Whether no key is pressed from `next` on. */
static bool is_last_press(const struct screen_typing *typing, size_t next)
{
	while (next < typing->n_keys && !typing->keys[next].down)
		next++;
	return next == typing->n_keys;
}

const struct screen_key *watch_key(struct watch *watch, int64_t t_ns, const struct screen_typing **ret_ends)
{
	for (size_t i = 0; i < watch->config->n_screen_typings; i++) {
		const struct screen_typing *typing = &watch->config->screen_typings[i];
		struct typing_state *state = &watch->typings[i];
		const struct screen_key *key = &typing->keys[state->next];

		if (!state->armed || state->next == typing->n_keys || t_ns < state->from_ns + (int64_t)key->t_ns)
			continue;
		state->next++;
		*ret_ends = key->down && is_last_press(typing, state->next) ? typing : NULL;
		return key;
	}
	return NULL;
}
