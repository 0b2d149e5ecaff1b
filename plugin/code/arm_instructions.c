/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A32 and T32: the encodings are those of the Arm Architecture Reference Manual, ARMv7-A and ARMv7-R edition. */
#include "instructions.h"

#include <string.h>

enum { LR = 14, PC = 15, SP = 13 };

static uint16_t halfword(const uint8_t *code)
{
	uint16_t value;

	memcpy(&value, code, sizeof value); /* instructions are little-endian, as the host is */
	return value;
}

static uint32_t word(const uint8_t *code)
{
	uint32_t value;

	memcpy(&value, code, sizeof value);
	return value;
}

/* The number in the lowest `bits` bits of `value`. */
static int64_t extend(uint32_t value, unsigned bits)
{
	return (int64_t)((uint64_t)value << (64 - bits)) >> (64 - bits);
}

/* To a register's address: LR holds the caller's. */
static enum flow to_register(unsigned number)
{
	return number == LR ? FLOW_RETURN : FLOW_JUMP_INDIRECT;
}

/* The program counter reads as two instructions on, and targets count from the next one. */
static struct flow_target a32_target(uint32_t code)
{
	return (struct flow_target){ true, extend(code, 24) * 4 + 4 };
}

static enum flow a32_unconditional(uint32_t code, struct flow_target *ret)
{
	if ((code & 0x0e000000) == 0x0a000000) { /* blx, whose bit 24 is half a word */
		*ret = a32_target(code);
		ret->offset += code >> 23 & 2;
		return FLOW_CALL;
	}
	if ((code & 0x0e50ffff) == 0x08100a00) /* rfe */
		return FLOW_EXCEPTION_RETURN;
	return FLOW_NONE;
}

/* Data processing whose result is the program counter. */
static enum flow a32_compute_pc(uint32_t code)
{
	unsigned operation = code >> 21 & 15;
	bool is_register = !(code & 1 << 25);

	if (operation >= 8 && operation < 12) /* comparisons, and what has their place */
		return FLOW_NONE;
	if (is_register && (code & 0x90) == 0x90) /* multiplications, loads and stores of other sizes */
		return FLOW_NONE;
	if (code & 1 << 20) /* movs pc, lr; subs pc, lr, #4 */
		return FLOW_EXCEPTION_RETURN;
	return operation == 13 && is_register && !(code & 0xff0) ? to_register(code & 15) : FLOW_JUMP_INDIRECT;
}

static enum flow a32_flow(uint32_t code, struct flow_target *ret)
{
	if (code >> 28 == 15)
		return a32_unconditional(code, ret);
	if ((code & 0x0e000000) == 0x0a000000) { /* b, bl */
		*ret = a32_target(code);
		return code & 1 << 24 ? FLOW_CALL : FLOW_JUMP;
	}
	if ((code & 0x0ffffff0) == 0x012fff30) /* blx */
		return FLOW_CALL;
	if ((code & 0x0ffffff0) == 0x012fff10) /* bx */
		return to_register(code & 15);
	if ((code & 0x0fffffff) == 0x0160006e) /* eret */
		return FLOW_EXCEPTION_RETURN;
	if ((code & 0x0fffffff) == 0x0320f003) /* wfi */
		return FLOW_HALT;
	if ((code & 0x0e108000) == 0x08108000) /* ldm {..., pc}, and with ^ */
		return code & 1 << 22 ? FLOW_EXCEPTION_RETURN : FLOW_RETURN;
	if ((code & 0x0c50f000) == 0x0410f000) { /* ldr pc */
		if ((code & (1 << 25 | 1 << 4)) == (1 << 25 | 1 << 4)) /* media instructions */
			return FLOW_NONE;
		return (code >> 16 & 15) == SP && !(code & 1 << 24) ? FLOW_RETURN : FLOW_JUMP_INDIRECT; /* pop {pc} */
	}
	return (code & 0x0c00f000) == 0x0000f000 ? a32_compute_pc(code) : FLOW_NONE;
}

static enum flow t32_flow_narrow(uint16_t code, struct flow_target *ret)
{
	if ((code & 0xff07) == 0x4700) /* bx, blx */
		return code & 0x80 ? FLOW_CALL : to_register(code >> 3 & 15);
	if ((code & 0xff87) == 0x4687) /* mov pc */
		return to_register(code >> 3 & 15);
	if ((code & 0xff87) == 0x4487) /* add pc */
		return FLOW_JUMP_INDIRECT;
	if ((code & 0xff00) == 0xbd00) /* pop {..., pc} */
		return FLOW_RETURN;
	if (code == 0xbf30) /* wfi */
		return FLOW_HALT;
	if ((code & 0xf800) == 0xe000) { /* b */
		*ret = (struct flow_target){ true, extend(code, 11) * 2 + 2 };
		return FLOW_JUMP;
	}
	if ((code & 0xf000) == 0xd000 && (code & 0x0e00) != 0x0e00) { /* b with a condition */
		*ret = (struct flow_target){ true, extend(code, 8) * 2 + 2 };
		return FLOW_JUMP;
	}
	return FLOW_NONE;
}

static enum flow t32_branch(uint16_t first, uint16_t second, struct flow_target *ret)
{
	uint32_t sign = first >> 10 & 1, j1 = second >> 13 & 1, j2 = second >> 11 & 1;
	uint32_t high = sign << 2 | (j1 ^ sign ^ 1) << 1 | (j2 ^ sign ^ 1);

	if ((second & 0xd000) == 0x8000) { /* b with a condition; those of no condition are other instructions */
		if ((first & 0x0380) == 0x0380)
			return FLOW_NONE;
		high = sign << 2 | j2 << 1 | j1;
		*ret = (struct flow_target){ true, extend(high << 17 | (first & 63U) << 11 | (second & 0x7ffU), 20) * 2 };
		return FLOW_JUMP;
	}
	*ret = (struct flow_target){ true, extend(high << 21 | (first & 0x3ffU) << 11 | (second & 0x7ffU), 24) * 2 };
	switch (second & 0xd000) {
	case 0x9000:
		return FLOW_JUMP;
	case 0xd000:
		return FLOW_CALL;
	default: /* blx: to A32 code, by a program counter rounded down */
		ret->known = false;
		return second & 1 ? FLOW_NONE : FLOW_CALL;
	}
}

/* ldr pc, whose base is in `first`. */
static enum flow t32_load_pc(uint16_t first, uint16_t second)
{
	enum { POP = 0xfb04 };

	return (first & 15) == SP && (first & 0xfff0) == 0xf850 && second == POP ? FLOW_RETURN : FLOW_JUMP_INDIRECT;
}

static enum flow t32_flow_wide(uint16_t first, uint16_t second, struct flow_target *ret)
{
	if (first == 0xf3de && (second & 0xff00) == 0x8f00) /* subs pc, lr; eret */
		return FLOW_EXCEPTION_RETURN;
	if (first == 0xf3af && second == 0x8003) /* wfi.w */
		return FLOW_HALT;
	if ((first & 0xf800) == 0xf000 && second & 0x8000)
		return t32_branch(first, second, ret);
	if (((first & 0xffd0) == 0xe810 || (first & 0xffd0) == 0xe990) && second == 0xc000) /* rfe */
		return FLOW_EXCEPTION_RETURN;
	if (((first & 0xffd0) == 0xe890 || (first & 0xffd0) == 0xe910) && second & 0x8000) /* ldm {..., pc} */
		return FLOW_RETURN;
	if ((first & 0xff70) == 0xf850 && second >> 12 == PC)
		return t32_load_pc(first, second);
	return FLOW_NONE;
}

enum flow arm_flow(const uint8_t *code, size_t size, bool thumb, struct flow_target *ret)
{
	*ret = (struct flow_target){ .known = false };
	if (size == 2 && thumb)
		return t32_flow_narrow(halfword(code), ret);
	if (size != 4)
		return FLOW_NONE;
	return thumb ? t32_flow_wide(halfword(code), halfword(code + 2), ret) : a32_flow(word(code), ret);
}

/* add lr, pc, #n; sub lr, pc, #n (adr); mov lr, pc. */
static bool a32_sets_link(uint32_t code, uint64_t address, uint64_t *ret)
{
	uint32_t rotation = code >> 7 & 30, byte = code & 0xff;
	uint32_t value = rotation ? byte >> rotation | byte << (32 - rotation) : byte;

	switch (code & 0x0ffff000) {
	case 0x028fe000:
		*ret = address + 8 + value;
		return true;
	case 0x024fe000:
		*ret = address + 8 - value;
		return true;
	default:
		*ret = address + 8;
		return (code & 0x0fffffff) == 0x01a0e00f;
	}
}

/* addw lr, pc, #n; subw lr, pc, #n (adr.w). */
static bool t32_sets_link(uint16_t first, uint16_t second, uint64_t address, uint64_t *ret)
{
	uint64_t pc = (address + 4) & ~UINT64_C(3);
	uint32_t value = (first & 0x400U) << 1 | (second >> 4 & 0x700U) | (second & 0xffU);

	if ((second & 0x8f00) != 0x0e00)
		return false;
	switch (first & 0xfbff) {
	case 0xf20f:
		*ret = pc + value;
		return true;
	case 0xf2af:
		*ret = pc - value;
		return true;
	default:
		return false;
	}
}

bool arm_link(const uint8_t *code, size_t size, bool thumb, uint64_t end, uint64_t *ret)
{
	size_t step = thumb ? 2 : 4;

	for (size_t before = 4; before <= size; before += step) {
		const uint8_t *at = code + size - before;
		uint64_t address = end - before;

		if (thumb ? t32_sets_link(halfword(at), halfword(at + 2), address, ret) : a32_sets_link(word(at), address, ret)) {
			*ret &= ~UINT64_C(1);
			return true;
		}
	}
	return false;
}
