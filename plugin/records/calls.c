/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the watched calls that are open, and writes each, or adds it up, when it returns. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_OPEN = 64, FIRST_TOTALS = 256 };

void calls_deinit(struct calls *calls)
{
	free(calls->open);
	free(calls->totals);
	*calls = (struct calls){ 0 };
}

uint32_t calls_open(struct calls *calls, const struct open_call *call)
{
	uint32_t place = calls->free;

	if (place) {
		calls->free = calls->open[place - 1].next_free;
	} else {
		if (calls->n_open == calls->capacity) {
			uint32_t capacity = calls->capacity ? 2 * calls->capacity : FIRST_OPEN;
			struct open_call *grown = realloc(calls->open, capacity * sizeof *grown);

			if (!grown)
				return 0;
			calls->open = grown;
			calls->capacity = capacity;
		}
		place = ++calls->n_open;
	}
	calls->open[place - 1] = *call;
	return place;
}

static struct profile_syscall *find_total(struct calls *calls, uint32_t task, uint32_t function)
{
	uint32_t i = (uint32_t)((((uint64_t)task << 32 | function) * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & calls->totals_mask;

	while (calls->totals[i].calls && (calls->totals[i].task != task || calls->totals[i].function != function))
		i = (i + 1) & calls->totals_mask;
	return &calls->totals[i];
}

static int grow_totals(struct calls *calls)
{
	struct profile_syscall *old = calls->totals;
	uint32_t n_old = old ? calls->totals_mask + 1 : 0, n = old ? 2 * n_old : FIRST_TOTALS;
	struct profile_syscall *grown = calloc(n, sizeof *grown);

	if (!grown)
		return -1;
	calls->totals = grown;
	calls->totals_mask = n - 1;
	for (uint32_t i = 0; i < n_old; i++)
		if (old[i].calls)
			*find_total(calls, old[i].task, old[i].function) = old[i];
	free(old);
	return 0;
}

static void add_up(struct calls *calls, const struct open_call *call, const struct call_end *end)
{
	struct profile_syscall *total;

	if (2 * calls->n_totals >= calls->totals_mask && grow_totals(calls))
		return;
	total = find_total(calls, call->task, (uint32_t)call->argument);
	if (!total->calls) {
		calls->n_totals++;
		*total = (struct profile_syscall){ .task = call->task, .function = (uint32_t)call->argument };
	}
	total->calls++;
	total->elapsed_ns += end->t_ns - call->start_ns;
	total->instructions += end->task_instructions - call->task_instructions;
}

static void write_call(struct calls *calls, const struct open_call *call, const struct call_end *end, uint16_t flags)
{
	const struct profile_call record = {
		.start_ns = call->start_ns,
		.end_ns = end->t_ns,
		.start_instructions = call->start_instructions,
		.end_instructions = end->instructions,
		.task_instructions = end->task_instructions - call->task_instructions,
		.argument = call->argument,
		.node = call->node,
		.task = call->task,
		.kind = (uint16_t)call->kind,
		.flags = flags,
		.text_size = (uint32_t)strlen(call->text),
	};

	profile_writer_add_text(calls->writer, PROFILE_CALL, &record, sizeof record, call->text, record.text_size);
}

void calls_close(struct calls *calls, uint32_t number, const struct call_end *end, uint16_t flags)
{
	struct open_call *call = &calls->open[number - 1];

	if (call->kind == CALL_SYSTEM)
		add_up(calls, call, end);
	else
		write_call(calls, call, end, flags);
	call->next_free = calls->free;
	calls->free = number;
}

void calls_cut(struct calls *calls)
{
	for (uint32_t i = 0; calls->totals && i <= calls->totals_mask; i++)
		if (calls->totals[i].calls)
			profile_writer_add(calls->writer, PROFILE_SYSCALL, &calls->totals[i], sizeof calls->totals[i]);
	if (calls->totals)
		memset(calls->totals, 0, (calls->totals_mask + 1) * sizeof *calls->totals);
	calls->n_totals = 0;
}
