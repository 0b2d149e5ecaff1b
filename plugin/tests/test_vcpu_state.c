/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests how a vCPU's registers and the flag of its clock are found, and that two such places or none are refused. */
#include "internals/vcpu_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { OBJECT = 8192, REGISTERS = 4096, FLAG = REGISTERS - 4, OTHER = 100 };

void *current_cpu;

static const uint64_t now[STATE_REGISTERS] = { 0x40000000, 2, 3, 4, 5, 6, 7, 8 };

static void take_samples(struct vcpu_state *state, uint8_t *object, unsigned count, unsigned unlike)
{
	for (unsigned i = 0; i < count; i++)
		for (int last = 0; last < 2; last++) {
			object[FLAG] = (uint8_t)last;
			object[OTHER] = (uint8_t)(last ^ (i == unlike)); /* the same, but for once */
			vcpu_state_sample(state, last);
		}
}

int main(void)
{
	uint8_t *object = calloc(1, OBJECT), *other = calloc(1, OBJECT);
	struct vcpu_state state;
	char message[128];

	CHECK(object && other);
	CHECK(vcpu_state_open(message, sizeof message, &state) == -ENOTSUP && strstr(message, "current_cpu"));
	current_cpu = object;
	CHECK(vcpu_state_open(message, sizeof message, &state) == 0 && state.size >= OBJECT);
	CHECK(vcpu_state_find(&state, now, message, sizeof message) == -ENOTSUP && strstr(message, "at 0 places"));
	memcpy(object + REGISTERS, now, sizeof now);
	memcpy(object + 64, now, sizeof now);
	CHECK(vcpu_state_find(&state, now, message, sizeof message) == -ENOTSUP && strstr(message, "at 2 places"));
	memset(object + 64, 0, sizeof now);
	CHECK(vcpu_state_find(&state, now, message, sizeof message) == 0 && (uint8_t *)vcpu_state_registers(&state) == object + REGISTERS);
	CHECK(vcpu_state_holds(&state, now));
	object[REGISTERS + 8]++;
	CHECK(!vcpu_state_holds(&state, now));
	take_samples(&state, object, 3, 7);
	CHECK(!vcpu_state_clock_flag(&state, message, sizeof message) && strstr(message, "too few"));
	take_samples(&state, object, STATE_SAMPLES - 3, 7);
	CHECK(vcpu_state_is_sampled(&state));
	CHECK(vcpu_state_clock_flag(&state, message, sizeof message) == object + FLAG);
	/* Another vCPU runs: its object has them at the same places, or they are not there. */
	current_cpu = other;
	CHECK(!vcpu_state_holds(&state, now));
	memcpy(other + REGISTERS, now, sizeof now);
	CHECK(vcpu_state_holds(&state, now) && (uint8_t *)vcpu_state_registers(&state) == other + REGISTERS);
	CHECK(vcpu_state_clock_flag(&state, message, sizeof message) == other + FLAG);
	current_cpu = object;
	vcpu_state_deinit(&state);
	/* Two bytes that are always alike. */
	object[REGISTERS + 8]--;
	CHECK(vcpu_state_open(message, sizeof message, &state) == 0 && vcpu_state_find(&state, now, message, sizeof message) == 0);
	take_samples(&state, object, 3, 7);
	state.samples[0] = state.samples[1] = STATE_SAMPLES;
	CHECK(!vcpu_state_clock_flag(&state, message, sizeof message) && strstr(message, "one of 2 bytes"));
	/* Then more are looked at, until one of them is unlike, or for so long that it never will be. */
	CHECK(!vcpu_state_is_sampled(&state));
	take_samples(&state, object, 3, 1);
	CHECK(vcpu_state_is_sampled(&state) && vcpu_state_clock_flag(&state, message, sizeof message) == object + FLAG);
	state.n_left = 2;
	CHECK(!vcpu_state_is_sampled(&state));
	state.samples[0] = state.samples[1] = STATE_MOST_SAMPLES;
	CHECK(vcpu_state_is_sampled(&state));
	vcpu_state_deinit(&state);
	free(object);
	free(other);
	puts("test_vcpu_state: ok");
	return 0;
}
