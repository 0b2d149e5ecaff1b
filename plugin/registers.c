/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the registers that matter by the names that QEMU gives them, and reads them and the guest's memory. */
#include "registers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What QEMU calls the registers of struct registers, as its gdb stub does; NULL: there is none. */
static const struct register_names {
	const char *target; /* what QEMU calls the architecture */
	const char *argument[2], *privilege, *out_port, *out_value, *caller;
} register_names[] = {
	[ARCH_X86_64] = { "x86_64", { "rdi", "rsi" }, "cs", "rdx", "rax", "rsp" },
	[ARCH_AARCH64] = { "aarch64", { "x0", "x1" }, "cpsr", NULL, NULL, "x30" },
	[ARCH_ARMV7] = { "arm", { "r0", "r1" }, "cpsr", NULL, NULL, "lr" },
	[ARCH_RISCV64] = { "riscv64", { "a0", "a1" }, "priv", NULL, NULL, "ra" },
};

const char *registers_target(enum arch arch)
{
	return register_names[arch].target;
}

const qemu_plugin_reg_descriptor *registers_described(GArray *all, unsigned index)
{
	return (const void *)(all->data + (size_t)index * g_array_get_element_size(all));
}

static struct qemu_plugin_register *find_register(GArray *all, const char *name)
{
	if (!name)
		return NULL;
	for (unsigned i = 0; i < all->len; i++) {
		const qemu_plugin_reg_descriptor *descriptor = registers_described(all, i);

		if (!strcmp(descriptor->name, name))
			return descriptor->handle;
	}
	/* Registers can only be asked for once there is a vCPU. */
	fprintf(stderr, "bootlab-plugin: this QEMU's vCPU has no register %s\n", name);
	exit(EXIT_FAILURE);
}

struct qemu_plugin_register *registers_find_one(const char *name)
{
	GArray *all = qemu_plugin_get_registers();
	struct qemu_plugin_register *found = find_register(all, name);

	g_array_free(all, 1);
	return found;
}

void registers_find(enum arch arch, struct registers *ret)
{
	const struct register_names *names = &register_names[arch];
	GArray *all = qemu_plugin_get_registers();

	*ret = (struct registers){
		.argument = { find_register(all, names->argument[0]), find_register(all, names->argument[1]) },
		.privilege = find_register(all, names->privilege),
		.out_port = find_register(all, names->out_port),
		.out_value = find_register(all, names->out_value),
		.caller = find_register(all, names->caller),
	};
	g_array_free(all, 1);
}

uint64_t registers_read(struct qemu_plugin_register *handle)
{
	GByteArray *bytes = g_byte_array_new();
	uint64_t value = 0;

	/* Little-endian, as all guests are, on a little-endian host. */
	qemu_plugin_read_register(handle, bytes);
	if (bytes->len)
		memcpy(&value, bytes->data, bytes->len < sizeof value ? bytes->len : sizeof value);
	g_byte_array_free(bytes, 1);
	return value;
}

bool memory_read(uint64_t address, void *ret, size_t size)
{
	GByteArray *bytes = g_byte_array_new();
	bool done = qemu_plugin_read_memory_vaddr(address, bytes, size) && bytes->len == size;

	if (done)
		memcpy(ret, bytes->data, size);
	g_byte_array_free(bytes, 1);
	return done;
}

bool registers_in_user_mode(const struct registers *registers, enum arch arch)
{
	uint64_t privilege = registers_read(registers->privilege);

	/* x86: cs.RPL is 3. arm64: PSTATE.EL is 0. arm: the mode is usr. riscv64: the level, 0 is U. */
	switch (arch) {
	case ARCH_X86_64:
		return (privilege & 3) == 3;
	case ARCH_ARMV7:
		return (privilege & 0x1f) == 0x10;
	case ARCH_RISCV64:
		return (privilege & 3) == 0;
	default:
		return (privilege & 0xc) == 0;
	}
}

uint64_t registers_return_address(const struct registers *registers, enum arch arch)
{
	uint64_t value = registers_read(registers->caller);

	if (arch == ARCH_X86_64 && !memory_read(value, &value, sizeof value))
		return 0;
	/* On arm its lowest bit says that the caller is Thumb code. */
	return arch == ARCH_ARMV7 ? value & ~UINT64_C(1) : value;
}
