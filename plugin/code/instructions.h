/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which instructions change the flow of calls, on all architectures. No QEMU headers. */
#ifndef BOOTLAB_INSTRUCTIONS_H
#define BOOTLAB_INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum flow {
	FLOW_NONE,
	FLOW_CALL,
	FLOW_CALL_PAIR, /* riscv64: direct, but its target is in the instruction before, too */
	FLOW_RETURN,
	FLOW_EXCEPTION_RETURN, /* also sysret and the like */
	FLOW_HALT,
	FLOW_JUMP,	/* direct; it is a return if its target is */
	FLOW_JUMP_INDIRECT, /* arm: a call where a return address was made for it, a return where that is what is jumped to */
	FLOW_INTERRUPT, /* `int n`: a call where there is no shadow of the entry, in real mode */
};

struct flow_target {
	bool known; /* a direct call or jump: it goes to the end of the instruction + `offset` */
	int64_t offset;
};

enum flow x86_flow(const uint8_t *code, size_t size, struct flow_target *ret);
/*
 * That it stores, if at all, only where no device is: a call (one to itself, too) its return address, and rep movs and rep stos a row of
 * memory, one piece at a time.
 */
bool x86_stores_memory(const uint8_t *code, size_t size);
/* That it may be PAUSE: with some prefixes it is something else, which does as little. */
bool x86_may_pause(const uint8_t *code, size_t size);
/*
 * That behind it interrupts may wait for one more instruction (STI, MOV to SS, POP SS, LSS), or the resume flag be set (IRET and
 * RSM); VMRUN may begin with either.
 */
bool x86_may_shadow(const uint8_t *code, size_t size);
/* That it asks the processor for a random number: rdrand and rdseed, RNDR and RNDRRS, the CSR `seed`. */
bool x86_draws_random(const uint8_t *code, size_t size);
bool aarch64_draws_random(const uint8_t *code, size_t size);
bool riscv_draws_random(const uint8_t *code, size_t size);
enum flow aarch64_flow(const uint8_t *code, size_t size, struct flow_target *ret);
enum flow riscv_flow(const uint8_t *code, size_t size, struct flow_target *ret);
/* `thumb`: T32 code, else A32. */
enum flow arm_flow(const uint8_t *code, size_t size, bool thumb, struct flow_target *ret);

/*
 * arm: the return address that the code of `size` bytes in front of `end` leaves in LR for a jump there, as assembly code does
 * that calls what is in a table (adr lr, ...; ldr pc, ...). False: it makes none.
 */
enum { ARM_LINK_WITHIN = 32 };
bool arm_link(const uint8_t *code, size_t size, bool thumb, uint64_t end, uint64_t *ret);

#endif
