/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests which A64 instructions are traps, with which register's number and effect; and that their neighbours are none. */
#include "code/arm64_traps.h"

#include <string.h>

#include "check.h"

/* The encodings are those of GNU as. */
static const struct example {
	uint32_t word;
	struct arm64_trap_site site;
} traps[] = {
	{ 0xd5380403, { TRAP_SYSREG_READ, 0xc020, 3, 0, false } },			/* mrs x3, id_aa64pfr0_el1 */
	{ 0xd5380000, { TRAP_SYSREG_READ, 0xc000, 0, 0, false } },			/* mrs x0, midr_el1 */
	{ 0xd53b0021, { TRAP_SYSREG_READ, 0xd801, 1, 0, true } },			/* mrs x1, ctr_el0 */
	{ 0xd538cc07, { TRAP_SYSREG_READ, 0xc660, 7, 0, false } },			/* mrs x7, icc_iar1_el1 */
	{ 0xd5381005, { TRAP_SYSREG_READ, 0xc080, 5, 0, false } },			/* mrs x5, sctlr_el1: no effect */
	{ 0xd5181005, { TRAP_SYSREG_WRITE, 0xc080, 5, ARM64_MAPPING | ARM64_SCTLR, false } }, /* msr sctlr_el1, x5 */
	{ 0xd5182000, { TRAP_SYSREG_WRITE, 0xc100, 0, ARM64_MAPPING, false } },		/* msr ttbr0_el1, x0 */
	{ 0xd518203f, { TRAP_SYSREG_WRITE, 0xc101, 31, ARM64_MAPPING, false } },	/* msr ttbr1_el1, xzr */
	{ 0xd5182049, { TRAP_SYSREG_WRITE, 0xc102, 9, ARM64_MAPPING, false } },		/* msr tcr_el1, x9 */
	{ 0xd518a202, { TRAP_SYSREG_WRITE, 0xc510, 2, ARM64_MAPPING, false } },		/* msr mair_el1, x2 */
	{ 0xd518d022, { TRAP_SYSREG_WRITE, 0xc681, 2, 0, false } },			/* msr contextidr_el1, x2 */
	{ 0xd53bd200, { TRAP_SYSREG_READ, 0xde90, 0, 0, true } },			/* mrs x0, amcr_el0 */
	{ 0xd518cba4, { TRAP_SYSREG_WRITE, 0xc65d, 4, 0, false } },			/* msr icc_sgi1r_el1, x4 */
	{ 0xd5184604, { TRAP_SYSREG_WRITE, 0xc230, 4, 0, false } },			/* msr icc_pmr_el1, x4 */
	{ 0xd510109f, { TRAP_SYSREG_WRITE, 0x8084, 31, 0, false } },			/* msr oslar_el1, xzr */
	{ 0xd508831f, { TRAP_SYSREG_WRITE, 0x4418, 31, ARM64_MAPPING, false } },	/* tlbi vmalle1is */
	{ 0xd5088723, { TRAP_SYSREG_WRITE, 0x4439, 3, ARM64_MAPPING, false } },		/* tlbi vae1, x3 */
	{ 0xd5088223, { TRAP_SYSREG_WRITE, 0x4411, 3, ARM64_MAPPING, false } },		/* tlbi rvae1is, x3 */
	{ 0xd5089323, { TRAP_SYSREG_WRITE, 0x4499, 3, ARM64_MAPPING, false } },		/* tlbi vae1isnxs, x3 */
	{ 0xd5087802, { TRAP_SYSREG_WRITE, 0x43c0, 2, 0, false } },			/* at s1e1r, x2 */
	{ 0xd5087e4b, { TRAP_SYSREG_WRITE, 0x43f2, 11, ARM64_SET_WAY, false } },	/* dc cisw, x11 */
	{ 0xd5087641, { TRAP_SYSREG_WRITE, 0x43b2, 1, ARM64_SET_WAY, false } },		/* dc isw, x1 */
	{ 0xd5087a41, { TRAP_SYSREG_WRITE, 0x43d2, 1, ARM64_SET_WAY, false } },		/* dc csw, x1 */
	{ 0xd5087a83, { TRAP_SYSREG_WRITE, 0x43d4, 3, ARM64_SET_WAY, false } },		/* dc cgsw, x3 */
	{ 0xd5087621, { TRAP_SYSREG_WRITE, 0x43b1, 1, 0, false } },			/* dc ivac, x1 */
	{ 0xd50b7e21, { TRAP_SYSREG_WRITE, 0x5bf1, 1, 0, true } },			/* dc civac, x1 */
	{ 0xd503207f, { TRAP_WFI, 0, 31, 0, true } },
	{ 0xd5031023, { TRAP_WFI, 1, 31, 0, true } }, /* wfit x3 */
	{ 0xd503205f, { TRAP_WFE, 0, 31, 0, true } },
	{ 0xd5031004, { TRAP_WFE, 1, 31, 0, true } }, /* wfet x4 */
	{ 0xd4000002, { TRAP_HVC, 0, 31, 0, false } },
	{ 0xd4000962, { TRAP_HVC, UINT64_C(0x4b) << 32, 31, 0, false } }, /* hvc #0x4b */
	{ 0xd4000023, { TRAP_SMC, UINT64_C(1) << 32, 31, 0, false } },	  /* smc #1 */
};

static const uint32_t none[] = {
	0xd4000001, /* svc #0 */
	0xd5384100, /* mrs x0, sp_el0 */
	0xd53b4220, /* mrs x0, daif */
	0xd51b4220, /* msr daif, x0 */
	0xd50343df, /* msr daifset, #3 */
	0xd500419f, /* msr pan, #1 */
	0xd53b4202, /* mrs x2, nzcv */
	0xd5184020, /* msr elr_el1, x0 */
	0xd518d080, /* msr tpidr_el1, x0 */
	0xd53bd040, /* mrs x0, tpidr_el0 */
	0xd53be040, /* mrs x0, cntvct_el0 */
	0xd53be0c0, /* mrs x0, cntvctss_el0 */
	0xd50b743e, /* dc zva, x30 */
	0xd503201f, /* nop */
	0xd503203f, /* yield */
	0xd5033fdf, /* isb */
	0xd5033f9f, /* dsb sy */
	0xd4200000, /* brk #0 */
	0xd5400000, /* beyond them: the instructions of 128 bits */
	0x14000001, /* b */
	0xf9400000, /* ldr x0, [x0] */
};

static const uint8_t *bytes(const uint32_t *word)
{
	return (const uint8_t *)word;
}

int main(void)
{
	struct arm64_trap_site site;
	uint32_t word = 0xd50b743e;
	uint8_t cleared;

	for (size_t i = 0; i < sizeof traps / sizeof *traps; i++) {
		const struct arm64_trap_site *wanted = &traps[i].site;

		CHECK(arm64_trap(bytes(&traps[i].word), 4, &site));
		CHECK(site.kind == wanted->kind && site.number == wanted->number && site.general == wanted->general);
		CHECK(site.effects == wanted->effects && site.by_users == wanted->by_users);
		CHECK(!arm64_clears(bytes(&traps[i].word), 4, &cleared));
		CHECK(!arm64_trap(bytes(&traps[i].word), 2, &site)); /* T32 */
	}
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		CHECK(!arm64_trap(bytes(&none[i]), 4, &site));
	CHECK(!arm64_trap(bytes(&word), 0, &site) && !arm64_clears(bytes(&word), 2, &cleared));
	CHECK(arm64_clears(bytes(&word), 4, &cleared) && cleared == 30);
	word = 0xd52b743e; /* sysl: reads */
	CHECK(!arm64_clears(bytes(&word), 4, &cleared));
	puts("test_arm64_traps: ok");
	return 0;
}
