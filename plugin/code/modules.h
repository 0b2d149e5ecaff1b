/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel modules' functions, from the symbol table that the guest kernel itself keeps of each module.
 *
 * It is read as the module's initialisation begins: everything is relocated by then, and the table still has the symbols of
 * the init code, which the kernel throws away soon after. That code's memory may be another module's later: whoever comes
 * last has it.
 */
#ifndef BOOTLAB_MODULES_H
#define BOOTLAB_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code_map.h"
#include "config/config.h"
#include "records/names.h"

enum { MODULE_NAME_SIZE = 64 }; /* MODULE_NAME_LEN is 56 */

struct module_function {
	uint64_t address;
	uint32_t name;	 /* where in `text` */
	uint32_t number; /* 0: not given yet */
	uint32_t rank;	 /* among several at one address, the lowest is taken */
};

/* A stretch of a module's code. */
struct module_text {
	uint64_t module; /* its struct module */
	uint64_t low, high;
	char name[MODULE_NAME_SIZE];
	bool init;
	struct module_function *functions; /* ascending */
	uint32_t n_functions, capacity;
	char *text;
	size_t text_size, text_capacity;
	uint32_t number; /* of `[module]`, for code in front of every function; 0: not given yet */
	struct module_text *next;
};

struct module_offsets {
	uint64_t name, kallsyms, symtab, num_symtab, strtab;
	bool known;
	bool has_memories; /* since Linux 6.4: an array of memories by type; until then a core and an init layout */
	uint64_t memories, memory_size, memory_base, memory_length;
	uint64_t layout_base[2], layout_length[2]; /* core, init */
};

struct modules {
	const struct guest *guest;
	struct names *names;
	struct module_offsets offsets;
	struct module_text *texts;
};

/* Where a module's code is. */
struct module_code {
	uint64_t address, size;
};

/* Without the offsets that this takes there are simply no modules. `guest` and `names` must outlive them. */
void modules_init(const struct config *config, const struct guest *guest, struct names *names, struct modules *ret);
void modules_deinit(struct modules *modules);

/* do_init_module(module) begins. False, and no `ret`: it cannot be read; else where its code is, without its init code. */
bool modules_load(struct modules *modules, uint64_t module, struct module_code *ret);
/* free_module(module) begins. */
void modules_unload(struct modules *modules, uint64_t module);

/* Which function of which module is at run-time `address`; false when no module is. */
bool modules_find(struct modules *modules, uint64_t address, struct code_place *ret);

#endif
