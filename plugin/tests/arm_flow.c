/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What arm_flow() says of instructions, for tests/profile/test_arm_instructions.py: reads lines `a|t ADDRESS BYTES`, all
 * hexadecimal, and writes a line `FLOW TARGET` for each, where a target that is not known is `-`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "code/instructions.h"

static const char *const names[] = {
	[FLOW_NONE] = "none",
	[FLOW_CALL] = "call",
	[FLOW_RETURN] = "return",
	[FLOW_EXCEPTION_RETURN] = "exception-return",
	[FLOW_HALT] = "halt",
	[FLOW_JUMP] = "jump",
	[FLOW_JUMP_INDIRECT] = "jump-indirect",
	[FLOW_INTERRUPT] = "interrupt",
};

int main(void)
{
	char mode, text[16];
	uint64_t address;

	while (scanf(" %c %" SCNx64 " %15s", &mode, &address, text) == 3) {
		size_t size = strlen(text) / 2;
		struct flow_target target;
		uint8_t code[8];
		enum flow flow;

		for (size_t i = 0; i < size; i++)
			if (sscanf(text + 2 * i, "%2" SCNx8, &code[i]) != 1)
				return 1;
		flow = arm_flow(code, size, mode == 't', &target);
		if (target.known)
			printf("%s %" PRIx64 "\n", names[flow], (address + size + (uint64_t)target.offset) & UINT32_MAX);
		else
			printf("%s -\n", names[flow]);
	}
	return 0;
}
