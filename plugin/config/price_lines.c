/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what each trap and each first touch of memory takes besides, and which features KVM shows its guest. */
#include "price_lines.h"

#include <inttypes.h>
#include <string.h>

/* As trace_format.h calls them. */
static const char *const kinds[TRAP_KINDS] = {
	[TRAP_IN] = "in",	  [TRAP_OUT] = "out",		    [TRAP_INS] = "ins",		  [TRAP_OUTS] = "outs",
	[TRAP_MMIO_READ] = "mmio_read", [TRAP_MMIO_WRITE] = "mmio_write", [TRAP_CPUID] = "cpuid", [TRAP_RDMSR] = "rdmsr",
	[TRAP_WRMSR] = "wrmsr",	  [TRAP_CR_READ] = "cr_read",	    [TRAP_CR_WRITE] = "cr_write", [TRAP_HLT] = "hlt",
	[TRAP_XSETBV] = "xsetbv", [TRAP_WBINVD] = "wbinvd",	    [TRAP_INVD] = "invd",	  [TRAP_HYPERCALL] = "hypercall",
	[TRAP_SYSREG_READ] = "sysreg_read", [TRAP_SYSREG_WRITE] = "sysreg_write", [TRAP_WFI] = "wfi", [TRAP_WFE] = "wfe",
	[TRAP_HVC] = "hvc",	  [TRAP_SMC] = "smc",
};

enum { PAGE_BITS = 12, CHUNK_BITS = 21 };

static bool is_priced(const struct config *config)
{
	return config->arch == ARCH_X86_64 || config->arch == ARCH_AARCH64;
}

static int read_ns(struct line *line, const char *word, uint64_t *ret)
{
	int r = line_read_decimal(line, word, ret);

	if (!r && *ret > CHARGE_MAX_NS)
		return line_complain(line, "%s %s: %s ns is not 0 to %" PRIu64, line->words[0], line->words[1], word, CHARGE_MAX_NS);
	return r;
}

int price_line_read(struct line *line, struct config *config)
{
	struct price price = { .kind = TRAP_LOST + 1 };
	uint64_t changes, state;
	int r;

	if (!is_priced(config))
		return line_complain(line, "price: the traps of x86_64 and aarch64 alone are known");
	if (line->n_words != 8)
		return line_complain(line, "expected: price CLASS KIND LOW HIGH CHANGES STATE NS");
	while (price.kind < TRAP_KINDS && strcmp(kinds[price.kind], line->words[2]))
		price.kind++;
	if (price.kind == TRAP_KINDS)
		return line_complain(line, "price %s: unknown kind of trap '%.80s'", line->words[1], line->words[2]);
	if ((r = line_read_name(line, line->words[1], price.name)) || (r = line_read_address(line, line->words[3], &price.low)) ||
	    (r = line_read_address(line, line->words[4], &price.high)) || (r = line_read_address(line, line->words[5], &changes)) ||
	    (r = line_read_address(line, line->words[6], &state)) || (r = read_ns(line, line->words[7], &price.ns)))
		return r;
	if (price.low > price.high)
		return line_complain(line, "price %s: %s to %s: an empty range", line->words[1], line->words[3], line->words[4]);
	if (changes > UINT32_MAX || state > TRAP_CACHES_OFF)
		return line_complain(line, "price %s: no such bits: %s %s", line->words[1], line->words[5], line->words[6]);
	price.changes = (uint32_t)changes;
	price.state = (uint16_t)state;
	return line_append(line, &config->prices, &config->n_prices, &price, sizeof price);
}

int touch_line_read(struct line *line, struct config *config)
{
	struct touch_price price;
	uint64_t bits;
	int r;

	if (!is_priced(config))
		return line_complain(line, "touch: for x86_64 and aarch64 alone");
	if (line->n_words != 6)
		return line_complain(line, "expected: touch CLASS LOW HIGH BITS NS");
	if ((r = line_read_name(line, line->words[1], price.name)) || (r = line_read_address(line, line->words[2], &price.low)) ||
	    (r = line_read_address(line, line->words[3], &price.high)) || (r = line_read_decimal(line, line->words[4], &bits)) ||
	    (r = read_ns(line, line->words[5], &price.ns)))
		return r;
	if (price.low >= price.high)
		return line_complain(line, "touch %s: %s to %s: an empty range", line->words[1], line->words[2], line->words[3]);
	if (bits != PAGE_BITS && bits != CHUNK_BITS)
		return line_complain(line, "touch %s: pieces of 2**%s bytes: 12 or 21", line->words[1], line->words[4]);
	price.bits = (unsigned)bits;
	return line_append(line, &config->touch_prices, &config->n_touch_prices, &price, sizeof price);
}

int kvm_line_read(struct line *line, struct config *config)
{
	uint64_t features;
	int r;

	if (config->arch != ARCH_X86_64)
		return line_complain(line, "kvm: only a guest on x86_64 is shown that hypervisor");
	if (line->n_words != 2)
		return line_complain(line, "expected: kvm FEATURES");
	if ((r = line_read_address(line, line->words[1], &features)))
		return r;
	if (!features || features > UINT32_MAX)
		return line_complain(line, "kvm %s: features are 1 to ffffffff", line->words[1]);
	config->kvm_features = (uint32_t)features;
	return 0;
}
