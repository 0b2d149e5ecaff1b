/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which instructions change the flow of calls, on both architectures. No QEMU headers. */
#ifndef BOOTLAB_INSTRUCTIONS_H
#define BOOTLAB_INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum flow {
	FLOW_NONE,
	FLOW_CALL,
	FLOW_RETURN,
	FLOW_EXCEPTION_RETURN, /* also sysret and the like */
	FLOW_HALT,
	FLOW_JUMP,	/* direct; it is a return if its target is */
	FLOW_INTERRUPT, /* `int n`: a call where there is no shadow of the entry, in real mode */
};

struct flow_target {
	bool known; /* a direct call or jump: it goes to the end of the instruction + `offset` */
	int64_t offset;
};

enum flow x86_flow(const uint8_t *code, size_t size, struct flow_target *ret);
enum flow aarch64_flow(const uint8_t *code, size_t size, struct flow_target *ret);

#endif
