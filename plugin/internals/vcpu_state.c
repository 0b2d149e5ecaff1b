/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Searches a vCPU's object for its registers and for the flag that follows its blocks. */
#include "vcpu_state.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols.h"

static int fail(char *message, size_t message_size, const char *what)
{
	snprintf(message, message_size, "%s", what);
	return -ENOTSUP;
}

int vcpu_state_open(char *message, size_t message_size, struct vcpu_state *ret)
{
	uint8_t *const *running;
	const struct wanted_symbol wanted[] = { { "current_cpu", &running } };
	int r = symbols_find(wanted, 1, message, message_size);

	if (r)
		return r;
	if (!*running)
		return fail(message, message_size, "current_cpu is not set where the guest runs");
	*ret = (struct vcpu_state){ .running = running, .size = malloc_usable_size(*running) };
	return ret->size ? 0 : fail(message, message_size, "the size of a vCPU's object is not known");
}

void vcpu_state_deinit(struct vcpu_state *state)
{
	free(state->may_be_flag);
	*state = (struct vcpu_state){ .running = NULL };
}

int vcpu_state_find(struct vcpu_state *state, const uint64_t now[STATE_REGISTERS], char *message, size_t message_size)
{
	const size_t whole = STATE_REGISTERS * sizeof *now;
	size_t found = 0, place = 0;

	for (size_t at = 0; at + whole <= state->size; at += sizeof *now)
		if (!memcmp(*state->running + at, now, whole)) {
			place = at;
			found++;
		}
	if (found != 1) {
		snprintf(message, message_size, "the vCPU's registers are at %zu places of its object, not at one", found);
		return -ENOTSUP;
	}
	state->may_be_flag = malloc(place + 1);
	if (!state->may_be_flag)
		return fail(message, message_size, "out of memory");
	memset(state->may_be_flag, 1, place + 1);
	state->n_left = place;
	state->registers_at = place;
	return 0;
}

uint64_t *vcpu_state_registers(const struct vcpu_state *state)
{
	return (uint64_t *)(void *)(*state->running + state->registers_at);
}

bool vcpu_state_holds(const struct vcpu_state *state, const uint64_t now[STATE_REGISTERS])
{
	return state->registers_at && !memcmp(vcpu_state_registers(state), now, STATE_REGISTERS * sizeof *now);
}

void vcpu_state_sample(struct vcpu_state *state, bool last)
{
	state->n_left = 0;
	for (size_t i = 0; i < state->registers_at; i++) {
		state->may_be_flag[i] &= (*state->running)[i] == last;
		state->n_left += state->may_be_flag[i];
	}
	state->samples[last]++;
}

bool vcpu_state_is_sampled(const struct vcpu_state *state)
{
	unsigned fewer = state->samples[state->samples[1] < state->samples[0]];

	/* In the blocks of one loop another byte may come and go alike: then more are looked at. */
	return fewer >= STATE_MOST_SAMPLES || (fewer >= STATE_SAMPLES && state->n_left <= 1);
}

uint8_t *vcpu_state_clock_flag(const struct vcpu_state *state, char *message, size_t message_size)
{
	size_t place = 0;

	if (!state->registers_at || state->samples[0] < STATE_SAMPLES || state->samples[1] < STATE_SAMPLES) {
		snprintf(message, message_size, "too few blocks have run to find the flag of the clock");
		return NULL;
	}
	for (size_t i = 0; i < state->registers_at; i++)
		if (state->may_be_flag[i])
			place = i;
	if (state->n_left == 1)
		return *state->running + place;
	snprintf(message, message_size, "the flag of the clock may be one of %zu bytes, not one", state->n_left);
	return NULL;
}
