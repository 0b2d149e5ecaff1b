/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes the x86 instructions that may leave a guest of KVM (AMD64 manual volume 2, 15.9; Intel SDM volume 3, 26.1). */
#include "traps.h"

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65: case 0x66: case 0x67: case 0xf0: case 0xf2: case 0xf3:
		return true;
	default:
		return false;
	}
}

static bool is_kind(struct trap_site *site, enum profile_trap_kind kind)
{
	site->kind = kind;
	return true;
}

/* Behind 0f; `rex` widens the numbers of registers to four bits. */
static bool decode_0f(const uint8_t *code, size_t size, uint8_t rex, struct trap_site *ret)
{
	uint8_t modrm = size > 1 ? code[1] : 0;

	switch (code[0]) {
	case 0xa2: return is_kind(ret, TRAP_CPUID);
	case 0x32: return is_kind(ret, TRAP_RDMSR);
	case 0x30: return is_kind(ret, TRAP_WRMSR);
	case 0x08: return is_kind(ret, TRAP_INVD);
	case 0x09: return is_kind(ret, TRAP_WBINVD); /* and wbnoinvd */
	case 0x20: case 0x22:
		ret->control = (uint8_t)((modrm >> 3 & 7) | (rex & 4) << 1);
		ret->general = (uint8_t)((modrm & 7) | (rex & 1) << 3);
		return size > 1 && is_kind(ret, code[0] == 0x20 ? TRAP_CR_READ : TRAP_CR_WRITE);
	case 0x01:
		if (modrm == 0xd1)
			return is_kind(ret, TRAP_XSETBV);
		/* vmcall and vmmcall: a guest of KVM may use either. */
		return (modrm == 0xc1 || modrm == 0xd9) && is_kind(ret, TRAP_HYPERCALL);
	default:
		return false;
	}
}

bool x86_trap(const uint8_t *code, size_t size, struct trap_site *ret)
{
	uint8_t rex = 0;
	size_t i = 0;

	*ret = (struct trap_site){ .kind = TRAP_LOST };
	while (i < size && is_prefix(code[i]))
		i++;
	/* In 16- and 32-bit code a whole instruction, which nothing follows. */
	if (i + 1 < size && (code[i] & 0xf0) == 0x40)
		rex = code[i++];
	if (i >= size)
		return false;
	switch (code[i]) {
	case 0xe4: case 0xe5: case 0xe6: case 0xe7:
		ret->has_port = true;
		ret->port = i + 1 < size ? code[i + 1] : 0;
		return i + 1 < size && is_kind(ret, code[i] < 0xe6 ? TRAP_IN : TRAP_OUT);
	case 0xec: case 0xed: return is_kind(ret, TRAP_IN);
	case 0xee: case 0xef: return is_kind(ret, TRAP_OUT);
	case 0x6c: case 0x6d: return is_kind(ret, TRAP_INS);
	case 0x6e: case 0x6f: return is_kind(ret, TRAP_OUTS);
	case 0xf4: return is_kind(ret, TRAP_HLT);
	case 0x0f: return i + 1 < size && decode_0f(code + i + 1, size - i - 1, rex, ret);
	default: return false;
	}
}
