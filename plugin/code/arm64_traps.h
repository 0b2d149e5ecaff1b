/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which A64 instructions may leave a guest of KVM for its host; traps.h says what a trap is. No QEMU headers. */
#ifndef BOOTLAB_ARM64_TRAPS_H
#define BOOTLAB_ARM64_TRAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile_format.h"

enum arm64_effect {
	ARM64_MAPPING = 1, /* a page may lie elsewhere from then on */
	ARM64_SCTLR = 2,   /* SCTLR_EL1 is written, and with it MMU and caches go on or off */
	ARM64_SET_WAY = 4, /* a cache is cleaned or invalidated by set and way */
};

struct arm64_trap_site {
	enum profile_trap_kind kind;
	uint64_t number; /* but for HVC and SMC: those have the low half of it in w0 */
	uint8_t general; /* of MSR: the general register that is written; 31: 0 */
	uint8_t effects; /* ARM64_* */
	bool by_users; /* from EL0 it is what it is from EL1; otherwise the guest's own kernel gets an exception for it */
};

/*
 * False: an instruction that never leaves the guest, or one so common that counting it costs more than it tells, which no host
 * asks to be told of unless the guest runs guests itself: registers of PSTATE and of exceptions (CRn 4, but for the interrupt
 * controller's priority mask), thread pointers (CRn 13, CRm 0), the virtual counter (CNTVCT_EL0, CNTVCTSS_EL0), clearing by DC ZVA.
 */
bool arm64_trap(const uint8_t *code, size_t size, struct arm64_trap_site *ret);
/* DC ZVA: clears a block, which lies in one page, at the address in a general register. */
bool arm64_clears(const uint8_t *code, size_t size, uint8_t *ret);

#endif
