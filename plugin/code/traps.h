/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which x86 instructions may leave a guest of KVM for its host. No QEMU headers.
 *
 * What is decoded here is a trap: something that a processor can be told to stop for. Whether one of a kind does stop for it,
 * and who then handles it, is for the rule sets to say (bootlab/price/), which are data.
 */
#ifndef BOOTLAB_TRAPS_H
#define BOOTLAB_TRAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile_format.h"

struct trap_site {
	enum profile_trap_kind kind;
	bool has_port; /* the port is part of the instruction, and not in dx */
	uint8_t port;
	uint8_t control; /* of a control register: its number, */
	uint8_t general; /* and that of the general register that it is written from */
};

/* False: an instruction that never leaves the guest. */
bool x86_trap(const uint8_t *code, size_t size, struct trap_site *ret);

#endif
