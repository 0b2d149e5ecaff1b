/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A vCPU's registers by what they are to us, and the guest's memory, as QEMU hands them out in a callback. */
#ifndef BOOTLAB_REGISTERS_H
#define BOOTLAB_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "qemu_plugin_api.h"

struct registers {
	struct qemu_plugin_register *argument[2];
	struct qemu_plugin_register *privilege; /* cs, cpsr, priv */
	struct qemu_plugin_register *out_port, *out_value; /* rdx, rax; x86 only */
	struct qemu_plugin_register *caller; /* rsp (the return address is on top of the stack), x30, lr and ra (it is the address) */
};

/* The `index`th of all registers that QEMU describes; their distance differs between its versions. */
const qemu_plugin_reg_descriptor *registers_described(GArray *all, unsigned index);

/* What QEMU calls an architecture. */
const char *registers_target(enum arch arch);

/* One by the name that QEMU gives it, with an end as below where there is none. From a vCPU's first callback. */
struct qemu_plugin_register *registers_find_one(const char *name);

/* From a vCPU's first callback. A register that this QEMU does not have ends it: it is too late to refuse politely. */
void registers_find(enum arch arch, struct registers *ret);

uint64_t registers_read(struct qemu_plugin_register *handle);

/* Whether the vCPU runs user code. */
bool registers_in_user_mode(const struct registers *registers, enum arch arch);

/* Where the function returns to at whose first instruction the vCPU is; 0: that cannot be read. */
uint64_t registers_return_address(const struct registers *registers, enum arch arch);

/* False when not all of it is mapped. */
bool memory_read(uint64_t address, void *ret, size_t size);

#endif
