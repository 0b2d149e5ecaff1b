/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes the A64 instructions that may leave a guest of KVM (Arm Architecture Reference Manual, DDI 0487, C4.1 and D24). */
#include "arm64_traps.h"

#include <string.h>

#define SYSREG(op0, op1, crn, crm, op2) ((op0) << 14 | (op1) << 11 | (crn) << 7 | (crm) << 3 | (op2))

enum {
	NO_REGISTER = 31,
	OP0_SYS = 1,
	SCTLR_EL1 = SYSREG(3, 0, 1, 0, 0),
	TTBR0_EL1 = SYSREG(3, 0, 2, 0, 0),
	TTBR1_EL1 = SYSREG(3, 0, 2, 0, 1),
	TCR_EL1 = SYSREG(3, 0, 2, 0, 2),
	ICC_PMR_EL1 = SYSREG(3, 0, 4, 6, 0),
	MAIR_EL1 = SYSREG(3, 0, 10, 2, 0),
	CONTEXTIDR_EL1 = SYSREG(3, 0, 13, 0, 1),
	CNTVCT_EL0 = SYSREG(3, 3, 14, 0, 2),
	CNTVCTSS_EL0 = SYSREG(3, 3, 14, 0, 6),
	DC_ZVA = SYSREG(1, 3, 7, 4, 1),
};

static bool read_word(const uint8_t *code, size_t size, uint32_t *ret)
{
	if (size != sizeof *ret)
		return false;
	memcpy(ret, code, sizeof *ret); /* instructions are little-endian, as the host is */
	return true;
}

/* MSR, MRS, SYS, SYSL and hints: what stands above their general register. */
static bool is_system(uint32_t word)
{
	return (word & 0xffc00000) == 0xd5000000;
}

static uint32_t number_of(uint32_t word)
{
	return word >> 5 & 0xffff;
}

static unsigned op0_of(uint32_t number)
{
	return number >> 14;
}

static unsigned crn_of(uint32_t number)
{
	return number >> 7 & 15;
}

static bool is_own(uint32_t number)
{
	if (number == DC_ZVA || number == CNTVCT_EL0 || number == CNTVCTSS_EL0)
		return true;
	if (op0_of(number) != 3)
		return false;
	if (crn_of(number) == 13)
		return !(number >> 3 & 15) && number != CONTEXTIDR_EL1;
	return crn_of(number) == 4 && number != ICC_PMR_EL1;
}

/* DC ISW, CSW, CISW and the same of tags: op1 0, CRn 7, CRm 6, 10 or 14, op2 2, 4 or 6. */
static bool is_by_set_and_way(uint32_t number)
{
	unsigned crm = number >> 3 & 15, op2 = number & 7;

	return number >> 7 == SYSREG(1, 0, 7, 0, 0) >> 7 && (crm & 3) == 2 && crm > 2 && op2 && !(op2 & 1);
}

static uint8_t effects_of(uint32_t number)
{
	if (is_by_set_and_way(number))
		return ARM64_SET_WAY;
	switch (number) {
	case SCTLR_EL1:
		return ARM64_MAPPING | ARM64_SCTLR;
	case TTBR0_EL1: case TTBR1_EL1: case TCR_EL1: case MAIR_EL1:
		return ARM64_MAPPING;
	default:
		/* Invalidations of the TLB, with their likes that do not wait for all accesses (nXS). */
		return op0_of(number) == OP0_SYS && (crn_of(number) == 8 || crn_of(number) == 9) ? ARM64_MAPPING : 0;
	}
}

static bool decode_system(uint32_t word, struct arm64_trap_site *ret)
{
	enum { READ = 1 << 21 };
	uint32_t number = number_of(word);

	/* Below are hints, barriers, and fields of PSTATE that are written at once. */
	if (op0_of(number) == 0 || is_own(number))
		return false;
	ret->kind = word & READ ? TRAP_SYSREG_READ : TRAP_SYSREG_WRITE;
	ret->number = number;
	ret->general = word & 31;
	ret->effects = word & READ ? 0 : effects_of(number);
	ret->by_users = (number >> 11 & 7) == 3;
	return true;
}

bool arm64_trap(const uint8_t *code, size_t size, struct arm64_trap_site *ret)
{
	uint32_t word;

	*ret = (struct arm64_trap_site){ .kind = TRAP_LOST, .general = NO_REGISTER, .by_users = true };
	if (!read_word(code, size, &word))
		return false;
	if (word == 0xd503205f || (word & 0xffffffe0) == 0xd5031000) { /* wfe, wfet */
		ret->kind = TRAP_WFE;
		ret->number = word != 0xd503205f;
		return true;
	}
	if (word == 0xd503207f || (word & 0xffffffe0) == 0xd5031020) { /* wfi, wfit */
		ret->kind = TRAP_WFI;
		ret->number = word != 0xd503207f;
		return true;
	}
	if ((word & 0xffe0001f) == 0xd4000002 || (word & 0xffe0001f) == 0xd4000003) { /* hvc, smc */
		ret->kind = word & 1 ? TRAP_SMC : TRAP_HVC;
		ret->number = (uint64_t)number_of(word) << 32;
		ret->by_users = false;
		return true;
	}
	return is_system(word) && decode_system(word, ret);
}

bool arm64_clears(const uint8_t *code, size_t size, uint8_t *ret)
{
	uint32_t word;

	if (!read_word(code, size, &word) || !is_system(word) || number_of(word) != DC_ZVA || word & 1 << 21)
		return false;
	*ret = word & 31;
	return true;
}
