/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the symbol tables of kernel modules as they are loaded, and forgets them when they go. */
#include "modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_SYMBOLS = 1 << 20,
	SYMBOLS_AT_ONCE = 64,
	NAME_SIZE = 512, /* KSYM_NAME_LEN */
};

/* enum mod_mem_type of Linux 6.4 */
enum { MOD_TEXT = 0, MOD_INIT_TEXT = 4 };

/* Elf64_Sym */
struct symbol {
	uint32_t name;
	uint8_t info, other;
	uint16_t section;
	uint64_t value, size;
};

/* Elf32_Sym */
struct narrow_symbol {
	uint32_t name, value, size;
	uint8_t info, other;
	uint16_t section;
};

enum { TYPE_NONE = 0, TYPE_FUNCTION = 2, BIND_LOCAL = 0, BIND_WEAK = 2 };

static bool find_memories(const struct config *config, struct module_offsets *ret)
{
	return config_offset(config, "module.mem", &ret->memories) && config_offset(config, "module_memory", &ret->memory_size) &&
	       config_offset(config, "module_memory.base", &ret->memory_base) &&
	       config_offset(config, "module_memory.size", &ret->memory_length);
}

static bool find_layouts(const struct config *config, struct module_offsets *ret)
{
	return config_offset(config, "module.core_layout.base", &ret->layout_base[0]) &&
	       config_offset(config, "module.core_layout.size", &ret->layout_length[0]) &&
	       config_offset(config, "module.init_layout.base", &ret->layout_base[1]) &&
	       config_offset(config, "module.init_layout.size", &ret->layout_length[1]);
}

void modules_init(const struct config *config, const struct guest *guest, struct names *names, struct modules *ret)
{
	struct module_offsets *offsets = &ret->offsets;

	*ret = (struct modules){ .guest = guest, .names = names };
	offsets->has_memories = find_memories(config, offsets);
	offsets->known = (offsets->has_memories || find_layouts(config, offsets)) &&
			 config_offset(config, "module.name", &offsets->name) &&
			 config_offset(config, "module.kallsyms", &offsets->kallsyms) &&
			 config_offset(config, "mod_kallsyms.symtab", &offsets->symtab) &&
			 config_offset(config, "mod_kallsyms.num_symtab", &offsets->num_symtab) &&
			 config_offset(config, "mod_kallsyms.strtab", &offsets->strtab);
}

static void text_free(struct module_text *text)
{
	free(text->functions);
	free(text->text);
	free(text);
}

void modules_deinit(struct modules *modules)
{
	while (modules->texts) {
		struct module_text *text = modules->texts;

		modules->texts = text->next;
		text_free(text);
	}
}

/* Those of `module`, and those that were where `new` is. */
static void forget(struct modules *modules, uint64_t module, const struct module_text *new)
{
	struct module_text **link = &modules->texts;

	while (*link) {
		struct module_text *text = *link;

		if (text->module == module || (new && text->low < new->high && new->low < text->high)) {
			*link = text->next;
			text_free(text);
		} else {
			link = &text->next;
		}
	}
}

static bool read_extent(const struct modules *modules, uint64_t module, bool init, uint64_t *low, uint64_t *high)
{
	const struct module_offsets *offsets = &modules->offsets;
	uint64_t base, length;
	uint32_t size;

	if (offsets->has_memories) {
		base = module + offsets->memories + (init ? MOD_INIT_TEXT : MOD_TEXT) * offsets->memory_size;
		length = base + offsets->memory_length;
		base += offsets->memory_base;
	} else {
		base = module + offsets->layout_base[init];
		length = module + offsets->layout_length[init];
	}
	if (!guest_read_pointer(modules->guest, base, low) || !modules->guest->read(length, &size, sizeof size))
		return false;
	*high = *low + size;
	return address_is_high(*low) && *high > *low;
}

static struct module_text *new_text(struct modules *modules, uint64_t module, bool init)
{
	struct module_text *text = calloc(1, sizeof *text);

	if (!text)
		return NULL;
	if (!read_extent(modules, module, init, &text->low, &text->high)) {
		text_free(text);
		return NULL;
	}
	text->module = module;
	text->init = init;
	guest_read_string(modules->guest, module + modules->offsets.name, text->name, sizeof text->name);
	forget(modules, 0, text);
	text->next = modules->texts;
	modules->texts = text;
	return text;
}

static int add_function(struct module_text *text, uint64_t address, uint32_t rank, const char *name)
{
	size_t size = strlen(name) + 1;

	if (text->n_functions == text->capacity) {
		uint32_t capacity = text->capacity ? 2 * text->capacity : 64;
		struct module_function *grown = realloc(text->functions, capacity * sizeof *grown);

		if (!grown)
			return -1;
		text->functions = grown;
		text->capacity = capacity;
	}
	if (text->text_size + size > text->text_capacity) {
		size_t capacity = 2 * text->text_capacity + 4096;
		char *grown = realloc(text->text, capacity);

		if (!grown)
			return -1;
		text->text = grown;
		text->text_capacity = capacity;
	}
	memcpy(text->text + text->text_size, name, size);
	text->functions[text->n_functions++] =
		(struct module_function){ .address = address, .name = (uint32_t)text->text_size, .rank = rank };
	text->text_size += size;
	return 0;
}

/* Lower is better, 0 is not a function. The two aliases are those that every module gives its init and exit functions. */
static uint32_t rank_symbol(const struct symbol *symbol, const char *name)
{
	unsigned type = symbol->info & 15, binding = symbol->info >> 4;

	if (!*name || *name == '$' || *name == '.')
		return 0;
	if (binding > BIND_WEAK) /* before Linux 5.2: a letter of nm(1) instead */
		type = (symbol->info | 0x20) == 't' || (symbol->info | 0x20) == 'w' ? TYPE_FUNCTION : TYPE_NONE;
	if (type != TYPE_FUNCTION && (type != TYPE_NONE || binding == BIND_LOCAL || binding > BIND_WEAK))
		return 0;
	return !strcmp(name, "init_module") || !strcmp(name, "cleanup_module") ? 2 : 1;
}

static int add_symbol(struct modules *modules, struct module_text *const texts[2], const struct symbol *symbol, uint64_t strings)
{
	for (int i = 0; i < 2; i++) {
		struct module_text *text = texts[i];
		char name[NAME_SIZE];
		uint32_t rank;

		if (!text || symbol->section == 0 || symbol->value < text->low || symbol->value >= text->high)
			continue;
		guest_read_string(modules->guest, strings + symbol->name, name, sizeof name);
		rank = rank_symbol(symbol, name);
		return rank ? add_function(text, symbol->value, rank, name) : 0;
	}
	return 0;
}

/* Those at `address`. False: nothing is mapped there. */
static bool read_some(const struct modules *modules, uint64_t address, struct symbol *ret, uint32_t count)
{
	struct narrow_symbol narrow[SYMBOLS_AT_ONCE];

	if (!modules->guest->narrow)
		return modules->guest->read(address, ret, count * sizeof *ret);
	if (!modules->guest->read(address, narrow, count * sizeof *narrow))
		return false;
	for (uint32_t i = 0; i < count; i++)
		ret[i] = (struct symbol){
			.name = narrow[i].name,
			.info = narrow[i].info,
			.section = narrow[i].section,
			.value = narrow[i].value & ~1U, /* of T32 code */
			.size = narrow[i].size,
		};
	return true;
}

static void read_symbols(struct modules *modules, uint64_t module, struct module_text *const texts[2])
{
	const struct module_offsets *offsets = &modules->offsets;
	size_t size = modules->guest->narrow ? sizeof(struct narrow_symbol) : sizeof(struct symbol);
	struct symbol symbols[SYMBOLS_AT_ONCE];
	uint64_t kallsyms, table, strings;
	uint32_t count;

	if (!guest_read_pointer(modules->guest, module + offsets->kallsyms, &kallsyms) ||
	    !guest_read_pointer(modules->guest, kallsyms + offsets->symtab, &table) ||
	    !guest_read_pointer(modules->guest, kallsyms + offsets->strtab, &strings) ||
	    !modules->guest->read(kallsyms + offsets->num_symtab, &count, sizeof count) || count > MOST_SYMBOLS)
		return;
	for (uint32_t done = 0; done < count;) {
		uint32_t n = count - done < SYMBOLS_AT_ONCE ? count - done : SYMBOLS_AT_ONCE;

		if (!read_some(modules, table + done * size, symbols, n))
			return;
		for (uint32_t i = 0; i < n; i++)
			if (add_symbol(modules, texts, &symbols[i], strings))
				return;
		done += n;
	}
}

static int compare_functions(const void *a, const void *b)
{
	const struct module_function *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name; /* that of the table's order */
}

static void sort_functions(struct module_text *text)
{
	uint32_t kept = 0;

	if (!text->n_functions)
		return;
	qsort(text->functions, text->n_functions, sizeof *text->functions, compare_functions);
	for (uint32_t i = 0; i < text->n_functions; i++)
		if (!kept || text->functions[i].address != text->functions[kept - 1].address)
			text->functions[kept++] = text->functions[i];
	text->n_functions = kept;
}

bool modules_load(struct modules *modules, uint64_t module, struct module_code *ret)
{
	struct module_text *texts[2];

	if (!modules->offsets.known)
		return false;
	forget(modules, module, NULL);
	for (int i = 0; i < 2; i++)
		texts[i] = new_text(modules, module, i);
	read_symbols(modules, module, texts);
	for (int i = 0; i < 2; i++)
		if (texts[i])
			sort_functions(texts[i]);
	if (!texts[0])
		return false;
	*ret = (struct module_code){ texts[0]->low, texts[0]->high - texts[0]->low };
	return true;
}

void modules_unload(struct modules *modules, uint64_t module)
{
	forget(modules, module, NULL);
}

static struct module_function *find_function(const struct module_text *text, uint64_t address)
{
	uint32_t low = 0, high = text->n_functions;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (text->functions[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &text->functions[low - 1] : NULL;
}

bool modules_find(struct modules *modules, uint64_t address, struct code_place *ret)
{
	struct module_text *text = modules->texts;
	struct module_function *function;
	char name[NAME_SIZE + MODULE_NAME_SIZE + 4];

	while (text && (address < text->low || address >= text->high))
		text = text->next;
	if (!text)
		return false;
	*ret = (struct code_place){ .address = address, .role = ROLE_PLAIN, .flags = CODE_KERNEL };
	function = find_function(text, address);
	if (!function) {
		snprintf(name, sizeof name, "[%s]", text->name);
		if (!text->number)
			text->number = names_add(modules->names, SPACE_MODULE, text->low, name);
		ret->function = text->number;
		ret->flags |= CODE_ANONYMOUS;
		return true;
	}
	if (!function->number) {
		snprintf(name, sizeof name, "%s [%s]", text->text + function->name, text->name);
		function->number = names_add(modules->names, SPACE_MODULE, function->address, name);
	}
	ret->function = function->number;
	/* Padding in front of a function, which call depth tracking (6.2) fills with code that falls into it. */
	if (!strncmp(text->text + function->name, "__pfx_", 6))
		ret->role = ROLE_THUNK;
	if (function->address == address)
		ret->flags |= CODE_START;
	return true;
}
