/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RV64 with compressed instructions: the encodings are those of The RISC-V Instruction Set Manual, volumes I and II of 2024. What
 * is a call and what a return is decided as its hints for return-address stacks do: by ra and t0, the two link registers.
 */
#include "instructions.h"

#include <string.h>

enum { RA = 1, T0 = 5 };
enum { OPCODE_JALR = 0x67, OPCODE_JAL = 0x6f };

static bool is_link(unsigned number)
{
	return number == RA || number == T0;
}

static enum flow flow_compressed(uint16_t code)
{
	unsigned source = code >> 7 & 31;

	if ((code & 0xf07f) == 0x9002) /* c.jalr, whose link is ra; c.ebreak has no source */
		return source ? FLOW_CALL : FLOW_NONE;
	if ((code & 0xf07f) == 0x8002) /* c.jr */
		return is_link(source) ? FLOW_RETURN : FLOW_NONE;
	return FLOW_NONE;
}

/* jal's 20 bits, of which the lowest stands for 2 bytes; it counts from the instruction itself. */
static int64_t jal_offset(uint32_t code)
{
	uint32_t value = (code >> 31) << 20 | (code >> 12 & 0xff) << 12 | (code >> 20 & 1) << 11 | (code >> 21 & 0x3ff) << 1;

	return (int64_t)((uint64_t)value << 43) >> 43;
}

static enum flow jalr_flow(uint32_t code)
{
	unsigned link = code >> 7 & 31, source = code >> 15 & 31;

	/* A pointer to a function is never in ra: there it is what auipc, the first of the pair that is `call`, has put there. */
	if (is_link(link))
		return link == source ? FLOW_CALL_PAIR : FLOW_CALL;
	return !link && is_link(source) ? FLOW_RETURN : FLOW_NONE;
}

enum flow riscv_flow(const uint8_t *code, size_t size, struct flow_target *ret)
{
	uint16_t narrow;
	uint32_t word;

	*ret = (struct flow_target){ .known = false };
	if (size == sizeof narrow) {
		memcpy(&narrow, code, sizeof narrow); /* instructions are little-endian, as the host is */
		return flow_compressed(narrow);
	}
	if (size != sizeof word)
		return FLOW_NONE;
	memcpy(&word, code, sizeof word);
	if ((word & 0x7f) == OPCODE_JAL && is_link(word >> 7 & 31)) {
		*ret = (struct flow_target){ true, jal_offset(word) - (int64_t)sizeof word };
		return FLOW_CALL;
	}
	if ((word & 0x707f) == OPCODE_JALR)
		return jalr_flow(word);
	switch (word) {
	case 0x10200073: case 0x30200073: case 0x70200073: /* sret, mret, mnret */
		return FLOW_EXCEPTION_RETURN;
	case 0x10500073: /* wfi */
		return FLOW_HALT;
	default:
		return FLOW_NONE;
	}
}
