/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The queue in front of a modelled disk: which command is next, and which are done. */
#include "model.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int disk_model_init(enum disk_kind kind, const struct disk_figures *figures, char *message, size_t message_size,
		    struct disk_model *ret)
{
	int r = disk_figures_check(kind, figures, message, message_size);

	if (r)
		return r;
	memset(ret, 0, sizeof *ret);
	ret->kind = kind;
	ret->figures = *figures;
	r = disk_flash_init(&ret->figures, &ret->flash);
	if (r)
		snprintf(message, message_size, "%s", strerror(-r));
	return r;
}

void disk_model_deinit(struct disk_model *model)
{
	disk_flash_deinit(&model->flash);
}

void disk_model_reset(struct disk_model *model)
{
	model->n_waiting = 0;
	model->n_active = 0;
}

static void activate(struct disk_model *model, size_t waiting, int64_t started_ns, int64_t done_ns)
{
	struct disk_request request = model->waiting[waiting];

	request.started_ns = started_ns;
	request.done_ns = done_ns;
	for (size_t i = 0; i < waiting; i++)
		model->passed_over[i]++;
	model->n_waiting--;
	memmove(model->waiting + waiting, model->waiting + waiting + 1, (model->n_waiting - waiting) * sizeof request);
	memmove(model->passed_over + waiting, model->passed_over + waiting + 1,
		(model->n_waiting - waiting) * sizeof *model->passed_over);
	model->active[model->n_active++] = request;
}

static size_t depth_of(const struct disk_model *model)
{
	int64_t depth = model->figures.of[DISK_DEPTH];

	return depth && depth < DISK_REQUESTS_MAX ? (size_t)depth : DISK_REQUESTS_MAX;
}

/* A flush waits for all in front of it, and is waited for. */
static bool has_flush(const struct disk_model *model)
{
	for (size_t i = 0; i < model->n_active; i++)
		if (model->active[i].operation == DISK_FLUSH)
			return true;
	return false;
}

static void start_flash(struct disk_model *model, int64_t t_ns)
{
	while (model->n_waiting && model->n_active < depth_of(model) && !has_flush(model)) {
		if (model->waiting[0].operation == DISK_FLUSH && model->n_active)
			return;
		activate(model, 0, t_ns, disk_flash_done(&model->flash, &model->figures, &model->waiting[0], t_ns));
	}
}

/* What the drive holds of the commands that wait: `depth` at most, and none behind a flush. */
static size_t visible(const struct disk_model *model)
{
	size_t n = 0, room = depth_of(model) > model->n_active ? depth_of(model) - model->n_active : 0;

	while (n < model->n_waiting && n < room) {
		if (model->waiting[n].operation == DISK_FLUSH)
			return n ? n : 1;
		n++;
	}
	return n;
}

/* All that needs no head. */
static void start_cached(struct disk_model *model, int64_t t_ns)
{
	size_t i = 0;

	while (i < visible(model)) {
		int64_t done;

		if (model->waiting[i].operation == DISK_FLUSH && model->n_active)
			return;
		if (disk_head_cached(&model->head, &model->figures, &model->waiting[i], t_ns, &done))
			activate(model, i, t_ns, done);
		else
			i++;
	}
}

/* The read that the head reaches soonest; but none is passed over by more than the drive can hold. */
static bool choose_read(const struct disk_model *model, int64_t t_ns, size_t *ret)
{
	int64_t least = INT64_MAX;
	bool found = false;

	for (size_t i = 0; i < visible(model); i++) {
		int64_t at;

		if (model->waiting[i].operation != DISK_READ)
			continue;
		if (model->passed_over[i] >= depth_of(model)) {
			*ret = i;
			return true;
		}
		at = disk_head_arrival(&model->head, &model->figures, model->waiting[i].sector, t_ns + model->figures.of[DISK_COMMAND_NS]);
		if (at < least) {
			least = at;
			*ret = i;
			found = true;
		}
	}
	return found;
}

static void start_head(struct disk_model *model, int64_t t_ns)
{
	size_t next;

	if (model->busy_ns <= t_ns)
		model->head.writes_back = false;
	start_cached(model, t_ns);
	if (model->busy_ns > t_ns)
		return;
	if (choose_read(model, t_ns, &next)) {
		model->busy_ns = disk_head_read(&model->head, &model->figures, &model->waiting[next], t_ns);
		activate(model, next, t_ns, model->busy_ns);
	} else if (model->head.n_unwritten) {
		model->busy_ns = disk_head_write_back(&model->head, &model->figures, t_ns);
		/* There is room again for a write that waited. */
		start_cached(model, t_ns);
	}
}

static void start(struct disk_model *model, int64_t t_ns)
{
	model->now_ns = t_ns;
	if (model->kind == DISK_HEAD)
		start_head(model, t_ns);
	else
		start_flash(model, t_ns);
}

int disk_model_ask(struct disk_model *model, const struct disk_request *request, int64_t now_ns)
{
	if (model->n_waiting + model->n_active >= DISK_REQUESTS_MAX)
		return -ENOBUFS;
	model->waiting[model->n_waiting] = *request;
	model->waiting[model->n_waiting].asked_ns = now_ns;
	model->passed_over[model->n_waiting++] = 0;
	start(model, now_ns);
	return 0;
}

int64_t disk_model_next(const struct disk_model *model)
{
	int64_t next = INT64_MAX;

	for (size_t i = 0; i < model->n_active; i++)
		if (model->active[i].done_ns < next)
			next = model->active[i].done_ns;
	/* The head writes back, and somebody may wait for that. */
	if (model->busy_ns > model->now_ns && (model->n_waiting || model->head.n_unwritten) && model->busy_ns < next)
		next = model->busy_ns;
	return next;
}

bool disk_model_take(struct disk_model *model, int64_t now_ns, struct disk_request *ret)
{
	int64_t next;

	while ((next = disk_model_next(model)) <= now_ns) {
		size_t first = 0;

		while (first < model->n_active && model->active[first].done_ns > next)
			first++;
		if (first < model->n_active) {
			*ret = model->active[first];
			model->n_active--;
			memmove(model->active + first, model->active + first + 1, (model->n_active - first) * sizeof *ret);
			start(model, next);
			return true;
		}
		start(model, next);
	}
	return false;
}
