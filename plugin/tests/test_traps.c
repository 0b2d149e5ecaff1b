/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests which instructions are traps, of which kind, with which port and registers; and that their neighbours are none. */
#include "code/traps.h"

#include <string.h>

#include "check.h"

static const struct example {
	const char *code;
	size_t size;
	struct trap_site site;
} traps[] = {
	{ "\xec", 1, { .kind = TRAP_IN } },		      /* in al, dx */
	{ "\x66\xed", 2, { .kind = TRAP_IN } },		      /* in ax, dx */
	{ "\xee", 1, { .kind = TRAP_OUT } },		      /* out dx, al */
	{ "\xe4\x61", 2, { TRAP_IN, true, 0x61, 0, 0 } },     /* in al, 0x61 */
	{ "\xe6\x80", 2, { TRAP_OUT, true, 0x80, 0, 0 } },    /* out 0x80, al */
	{ "\xf3\x6c", 2, { .kind = TRAP_INS } },	      /* rep insb */
	{ "\xf3\x66\x6f", 3, { .kind = TRAP_OUTS } },	      /* rep outsw */
	{ "\xf4", 1, { .kind = TRAP_HLT } },
	{ "\x0f\xa2", 2, { .kind = TRAP_CPUID } },
	{ "\x0f\x32", 2, { .kind = TRAP_RDMSR } },
	{ "\x3e\x0f\x30", 3, { .kind = TRAP_WRMSR } },	      /* as alternatives pad it */
	{ "\x0f\x01\xd1", 3, { .kind = TRAP_XSETBV } },
	{ "\x0f\x01\xc1", 3, { .kind = TRAP_HYPERCALL } },
	{ "\x0f\x01\xd9", 3, { .kind = TRAP_HYPERCALL } },
	{ "\x0f\x09", 2, { .kind = TRAP_WBINVD } },
	{ "\x0f\x08", 2, { .kind = TRAP_INVD } },
	{ "\x0f\x22\xe0", 3, { .kind = TRAP_CR_WRITE, .control = 4, .general = 0 } },	      /* mov cr4, rax */
	{ "\x0f\x20\xc7", 3, { .kind = TRAP_CR_READ, .control = 0, .general = 7 } },	      /* mov rdi, cr0 */
	{ "\x44\x0f\x22\xc1", 4, { .kind = TRAP_CR_WRITE, .control = 8, .general = 1 } },    /* mov cr8, rcx */
	{ "\x41\x0f\x22\xdc", 4, { .kind = TRAP_CR_WRITE, .control = 3, .general = 12 } },   /* mov cr3, r12 */
};

static const struct {
	const char *code;
	size_t size;
} none[] = {
	{ "\x90", 1 }, { "\xf3\x90", 2 }, /* pause */
	{ "\x0f\x31", 2 },		  /* rdtsc */
	{ "\x0f\x06", 2 },		  /* clts */
	{ "\x0f\x01\x38", 3 },		  /* invlpg */
	{ "\x0f\x21\xf8", 3 },		  /* mov rax, dr7 */
	{ "\xe8\xee\xec\x0f\xa2", 5 },	  /* call, with such bytes in its displacement */
	{ "\x48\x89\xee", 3 }, { "\x0f", 1 }, { "\xe4", 1 }, { "\x66\x66", 2 }, { "\x44", 1 }, { "", 0 },
};

int main(void)
{
	struct trap_site site;

	for (size_t i = 0; i < sizeof traps / sizeof *traps; i++) {
		CHECK(x86_trap((const uint8_t *)traps[i].code, traps[i].size, &site));
		CHECK(site.kind == traps[i].site.kind && site.has_port == traps[i].site.has_port && site.port == traps[i].site.port);
		CHECK(site.control == traps[i].site.control && site.general == traps[i].site.general);
	}
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		CHECK(!x86_trap((const uint8_t *)none[i].code, none[i].size, &site));
	puts("test_traps: ok");
	return 0;
}
