/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes just enough of x86-64 and arm64 to see calls, returns, jumps, halts, and what else is asked for of one instruction. */
#include "instructions.h"

#include <string.h>

static bool x86_is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: /* segments; 2e and 3e are also branch hints and notrack */
	case 0x64: case 0x65: case 0x66: case 0x67:
	case 0xf0: case 0xf2: case 0xf3:
		return true;
	default:
		/* REX. In 16- and 32-bit code a whole instruction, which nothing follows. */
		return (byte & 0xf0) == 0x40;
	}
}

/* The displacement that ends an instruction: 8, 16 or 32 bits, as many as there are. */
static int64_t x86_displacement(const uint8_t *code, size_t size)
{
	int16_t word;
	int32_t longer;

	if (size == 1)
		return (int8_t)code[0];
	if (size == sizeof word) {
		memcpy(&word, code, sizeof word);
		return word;
	}
	if (size < sizeof longer)
		return 0;
	memcpy(&longer, code, sizeof longer);
	return longer;
}

static enum flow x86_flow_0f(const uint8_t *code, size_t size)
{
	if (size >= 2 && (code[1] == 0x07 || code[1] == 0x35)) /* sysret, sysexit */
		return FLOW_EXCEPTION_RETURN;
	if (size >= 3 && code[1] == 0x01 && code[2] == 0xc9) /* mwait */
		return FLOW_HALT;
	return FLOW_NONE;
}

enum flow x86_flow(const uint8_t *code, size_t size, struct flow_target *ret)
{
	size_t i = 0;
	uint8_t extension;

	*ret = (struct flow_target){ .known = false };
	while (i < size && x86_is_prefix(code[i]))
		i++;
	if (i == size)
		return FLOW_NONE;
	extension = i + 1 < size ? code[i + 1] >> 3 & 7 : 0;
	switch (code[i]) {
	case 0xe8:
		*ret = (struct flow_target){ true, x86_displacement(code + i + 1, size - i - 1) };
		/*
		 * To itself it is no call: `call +0` finds out its own address, and the kernel fills the return stack buffer with
		 * calls over an int3 or two whose return addresses it drops.
		 */
		return ret->offset >= 0 && ret->offset <= 2 ? FLOW_NONE : FLOW_CALL;
	case 0xe9: case 0xeb:
		*ret = (struct flow_target){ true, x86_displacement(code + i + 1, size - i - 1) };
		return FLOW_JUMP;
	case 0x9a: /* far */
		return FLOW_CALL;
	case 0xff: /* /2 and /3: near and far, indirect */
		return i + 1 < size && (extension == 2 || extension == 3) ? FLOW_CALL : FLOW_NONE;
	case 0xc2: case 0xc3: case 0xca: case 0xcb:
		return FLOW_RETURN;
	case 0xcd:
		return FLOW_INTERRUPT;
	case 0xcf:
		return FLOW_EXCEPTION_RETURN;
	case 0xf4:
		return FLOW_HALT;
	case 0x0f:
		return x86_flow_0f(code + i, size - i);
	default:
		return FLOW_NONE;
	}
}

bool x86_stores_memory(const uint8_t *code, size_t size)
{
	struct flow_target target;
	bool repeats = false;
	size_t i = 0;

	if (x86_flow(code, size, &target) != FLOW_NONE || target.known)
		return true;
	for (; i < size && x86_is_prefix(code[i]); i++)
		repeats |= code[i] == 0xf2 || code[i] == 0xf3;
	return repeats && i < size && (code[i] == 0xa4 || code[i] == 0xa5 || code[i] == 0xaa || code[i] == 0xab);
}

bool x86_may_pause(const uint8_t *code, size_t size)
{
	bool repeats = false;
	size_t i = 0;

	for (; i < size && x86_is_prefix(code[i]); i++)
		repeats |= code[i] == 0xf3;
	return repeats && i < size && code[i] == 0x90;
}

bool x86_may_shadow(const uint8_t *code, size_t size)
{
	enum { SS = 2 };
	size_t i = 0;

	while (i < size && x86_is_prefix(code[i]))
		i++;
	if (i == size)
		return false;
	switch (code[i]) {
	case 0xfb: case 0x17: case 0xcf: /* sti, pop ss, iret */
		return true;
	case 0x8e:
		return i + 1 < size && (code[i + 1] >> 3 & 7) == SS;
	case 0x0f:
		if (i + 1 < size && (code[i + 1] == 0xb2 || code[i + 1] == 0xaa)) /* lss, rsm */
			return true;
		return i + 2 < size && code[i + 1] == 0x01 && code[i + 2] == 0xd8; /* vmrun */
	default:
		return false;
	}
}

bool x86_draws_random(const uint8_t *code, size_t size)
{
	bool repeats = false;
	uint8_t extension;
	size_t i = 0;

	for (; i < size && x86_is_prefix(code[i]); i++)
		repeats |= code[i] == 0xf3;
	if (i + 2 >= size || code[i] != 0x0f || code[i + 1] != 0xc7 || code[i + 2] < 0xc0)
		return false;
	extension = code[i + 2] >> 3 & 7;
	return !repeats && extension >= 6; /* with f3 it is rdpid */
}

bool aarch64_draws_random(const uint8_t *code, size_t size)
{
	uint32_t word;

	if (size != sizeof word)
		return false;
	memcpy(&word, code, sizeof word);
	return (word & 0xffffffc0) == 0xd53b2400; /* mrs of s3_3_c2_c4_0 and _1 */
}

bool riscv_draws_random(const uint8_t *code, size_t size)
{
	uint32_t word;

	if (size != sizeof word)
		return false;
	memcpy(&word, code, sizeof word);
	return (word & 0x7f) == 0x73 && (word >> 12 & 3) && word >> 20 == 0x015; /* csrr* of `seed` */
}

enum flow aarch64_flow(const uint8_t *code, size_t size, struct flow_target *ret)
{
	uint32_t word;

	*ret = (struct flow_target){ .known = false };
	if (size != sizeof word)
		return FLOW_NONE;
	memcpy(&word, code, sizeof word); /* instructions are little-endian, as the host is */
	if ((word & 0xfc000000) == 0x94000000) { /* bl, whose target counts from the instruction itself */
		*ret = (struct flow_target){ true, (int64_t)((uint64_t)word << 38) >> 36 };
		ret->offset -= (int64_t)sizeof word;
		return FLOW_CALL;
	}
	if ((word & 0xfffffc1f) == 0xd63f0000 || (word & 0xfefff800) == 0xd63f0800) /* blr, blraa and its kin */
		return FLOW_CALL;
	if ((word & 0xfffffc1f) == 0xd65f0000 || word == 0xd65f0bff || word == 0xd65f0fff) /* ret, retaa, retab */
		return FLOW_RETURN;
	if (word == 0xd69f03e0 || word == 0xd69f0bff || word == 0xd69f0fff) /* eret, eretaa, eretab */
		return FLOW_EXCEPTION_RETURN;
	if (word == 0xd503207f || (word & 0xffffffe0) == 0xd5031020) /* wfi, wfit */
		return FLOW_HALT;
	return FLOW_NONE;
}
