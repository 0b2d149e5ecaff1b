/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the functions of kernel modules: read from their tables, at addresses that are used again. */
#include "code/modules.h"

#include <string.h>

#include "check.h"
#include "config/read.h"
#include "guest.h"
#include "names_given.h"

static const char SINCE_6_4[] = "arch x86_64\n"
				"offset module.name 24\n"
				"offset module.kallsyms 888\n"
				"offset module.mem 320\n"
				"offset module_memory 72\n"
				"offset module_memory.base 0\n"
				"offset module_memory.size 8\n"
				"offset mod_kallsyms.symtab 0\n"
				"offset mod_kallsyms.num_symtab 8\n"
				"offset mod_kallsyms.strtab 16\n";
static const char BEFORE_6_4[] = "arch x86_64\n"
				 "offset module.name 24\n"
				 "offset module.kallsyms 552\n"
				 "offset module.core_layout.base 320\n"
				 "offset module.core_layout.size 328\n"
				 "offset module.init_layout.base 400\n"
				 "offset module.init_layout.size 408\n"
				 "offset mod_kallsyms.symtab 0\n"
				 "offset mod_kallsyms.num_symtab 8\n"
				 "offset mod_kallsyms.strtab 16\n";

#define MODULE UINT64_C(0xffffffffc0300040)
#define CORE UINT64_C(0xffffffffc0200000)
#define INIT UINT64_C(0xffffffffc0400000)
#define TABLES UINT64_C(0xffffffffc0500000)

enum { FUNCTION = 2, OBJECT = 1, NOTYPE = 0, SECTION = 3, LOCAL = 0 << 4, GLOBAL = 1 << 4 };

struct row {
	const char *name;
	uint64_t value;
	uint8_t info;
	uint16_t section;
};

static const struct row rows[] = {
	{ "", 0, 0, 0 },
	{ "", CORE, SECTION, 1 },
	{ "probe", CORE + 0x40, FUNCTION | LOCAL, 1 },
	{ "__pfx_remove", CORE + 0x90, FUNCTION | LOCAL, 1 },
	{ "remove", CORE + 0xa0, FUNCTION | GLOBAL, 1 },
	{ "$x", CORE + 0xa4, NOTYPE | LOCAL, 1 },
	{ ".Lloop", CORE + 0xa8, NOTYPE | LOCAL, 1 },
	{ "a_loop", CORE + 0xac, NOTYPE | LOCAL, 1 },
	{ "assembly", CORE + 0xc0, NOTYPE | GLOBAL, 1 },
	{ "cleanup_module", CORE + 0x100, FUNCTION | GLOBAL, 1 },
	{ "net_exit", CORE + 0x100, FUNCTION | LOCAL, 1 },
	{ "table", 0xffffffffc0250000, OBJECT | LOCAL, 3 },
	{ "printk", CORE + 0x120, NOTYPE | GLOBAL, 0 }, /* imported */
	{ "net_init", INIT + 0x10, FUNCTION | LOCAL, 2 },
	{ "init_module", INIT + 0x10, FUNCTION | GLOBAL, 2 },
};
enum { ROWS = sizeof rows / sizeof *rows };

static void put_symbols(uint64_t kallsyms)
{
	uint64_t strings = TABLES + 0x1000, next = strings + 1;
	uint32_t count = ROWS;

	guest_put_text(strings, "");
	guest_put_word(kallsyms, TABLES);
	guest_put(kallsyms + 8, &count, sizeof count);
	guest_put_word(kallsyms + 16, strings);
	for (uint64_t i = 0; i < ROWS; i++) {
		const struct row *row = &rows[i];
		uint32_t name = *row->name ? (uint32_t)(next - strings) : 0;
		uint8_t symbol[24] = { 0 };

		memcpy(symbol, &name, 4);
		symbol[4] = row->info;
		memcpy(symbol + 6, &row->section, 2);
		memcpy(symbol + 8, &row->value, 8);
		guest_put(TABLES + 24 * i, symbol, sizeof symbol);
		if (*row->name) {
			guest_put_text(next, row->name);
			next += strlen(row->name) + 1;
		}
	}
}

static void put_module(bool new, uint64_t module, const char *name, uint64_t core, uint64_t init)
{
	uint64_t kallsyms = TABLES + 0x3000;
	uint32_t size = 0x1000;

	guest_put_text(module + 24, name);
	guest_put_word(module + (new ? 888 : 552), kallsyms);
	guest_put_word(module + 320, core);
	guest_put(module + 328, &size, sizeof size);
	guest_put_word(module + (new ? 320 + 4 * 72 : 400), init);
	guest_put(module + (new ? 328 + 4 * 72 : 408), &size, sizeof size);
	put_symbols(kallsyms);
}

static void open_modules(const char *text, struct config *config, struct modules *ret)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	char message[256];

	CHECK(file);
	CHECK(config_read(file, "boot.conf", message, sizeof message, config) == 0);
	fclose(file);
	n_names_given = 0;
	modules_init(config, &guest, NULL, ret);
}

static const char *name_at(struct modules *modules, uint64_t address)
{
	struct code_place place = { .function = 1 };

	if (!modules_find(modules, address, &place))
		return NULL;
	CHECK(place.flags & CODE_KERNEL && place.address == address);
	return name_given(place.function);
}

static void check_names(struct modules *modules)
{
	struct code_place place;
	uint32_t number;

	CHECK(!strcmp(name_at(modules, CORE + 0x40), "probe [net]"));
	CHECK(!strcmp(name_at(modules, CORE + 0x8f), "probe [net]"));
	CHECK(!strcmp(name_at(modules, CORE + 0xaf), "remove [net]"));
	CHECK(!strcmp(name_at(modules, CORE + 0xc0), "assembly [net]"));
	CHECK(!strcmp(name_at(modules, CORE + 0x100), "net_exit [net]"));
	CHECK(!strcmp(name_at(modules, CORE + 0xfff), "net_exit [net]"));
	CHECK(!strcmp(name_at(modules, INIT + 0x20), "net_init [net]"));
	CHECK(!strcmp(name_at(modules, CORE + 0x10), "[net]"));
	CHECK(!name_at(modules, CORE - 1) && !name_at(modules, CORE + 0x1000) && !name_at(modules, 0));

	CHECK(modules_find(modules, CORE + 0x40, &place) && place.flags == (CODE_KERNEL | CODE_START));
	number = place.function;
	CHECK(modules_find(modules, CORE + 0x44, &place) && place.function == number && place.flags == CODE_KERNEL);
	CHECK(names_given[number - FIRST_NUMBER].space == SPACE_MODULE && names_given[number - FIRST_NUMBER].address == CORE + 0x40);
	CHECK(modules_find(modules, CORE + 0x98, &place) && place.role == ROLE_THUNK);
	CHECK(modules_find(modules, CORE + 0xa0, &place) && place.role == ROLE_PLAIN);
	CHECK(modules_find(modules, CORE, &place) && place.flags == (CODE_KERNEL | CODE_ANONYMOUS));
}

static void test_functions(const char *text, bool new)
{
	struct config config;
	struct modules modules;
	struct module_code code;

	guest_clear();
	put_module(new, MODULE, "net", CORE, INIT);
	open_modules(text, &config, &modules);
	CHECK(!name_at(&modules, CORE + 0x40));
	CHECK(modules_load(&modules, MODULE, &code));
	CHECK(code.address == CORE && code.size == 0x1000);
	check_names(&modules);
	modules_unload(&modules, MODULE);
	CHECK(!name_at(&modules, CORE + 0x40) && !name_at(&modules, INIT + 0x10));
	modules_deinit(&modules);
	config_deinit(&config);
}

/* Memory of init code, and of a module that went unseen, is another module's later. */
static void test_addresses_are_used_again(void)
{
	const uint64_t other = MODULE + 0x1000, core = INIT + 0x800;
	struct config config;
	struct modules modules;
	struct module_code code;

	guest_clear();
	put_module(true, MODULE, "net", CORE, INIT);
	open_modules(SINCE_6_4, &config, &modules);
	CHECK(modules_load(&modules, MODULE, &code));
	put_module(true, other, "block", core, INIT + 0x8000);
	CHECK(modules_load(&modules, other, &code));
	CHECK(!name_at(&modules, INIT + 0x10));
	CHECK(!strcmp(name_at(&modules, core + 1), "[block]"));
	CHECK(!strcmp(name_at(&modules, CORE + 0x40), "probe [net]"));
	/* The same module again, elsewhere. */
	put_module(true, MODULE, "net", CORE + 0x8000, INIT + 0x9000);
	CHECK(modules_load(&modules, MODULE, &code));
	CHECK(!name_at(&modules, CORE + 0x40));
	CHECK(!strcmp(name_at(&modules, CORE + 0x8040), "[net]"));
	modules_deinit(&modules);
	config_deinit(&config);
}

static void test_what_cannot_be_read(void)
{
	struct config config;
	struct modules modules;
	struct module_code code;
	uint32_t count = UINT32_MAX;

	guest_clear();
	open_modules("arch x86_64\noffset module.name 24\n", &config, &modules);
	put_module(true, MODULE, "net", CORE, INIT);
	CHECK(!modules_load(&modules, MODULE, &code));
	modules_deinit(&modules);
	config_deinit(&config);

	open_modules(SINCE_6_4, &config, &modules);
	CHECK(!modules_load(&modules, 0xffffffffdead0000, &code));
	/* A table that cannot be: the module still has its name. */
	guest_put(TABLES + 0x3008, &count, sizeof count);
	CHECK(modules_load(&modules, MODULE, &code));
	CHECK(!strcmp(name_at(&modules, CORE + 0x40), "[net]"));
	count = 5000; /* and one that ends in nowhere */
	guest_put(TABLES + 0x3008, &count, sizeof count);
	CHECK(modules_load(&modules, MODULE, &code));
	modules_unload(&modules, 1);
	/* A module without init code. */
	guest_put_word(MODULE + 320 + 4 * 72, 0);
	put_symbols(TABLES + 0x3000);
	CHECK(modules_load(&modules, MODULE, &code));
	CHECK(!strcmp(name_at(&modules, CORE + 0x40), "probe [net]"));
	modules_deinit(&modules);
	config_deinit(&config);
}

int main(void)
{
	test_functions(SINCE_6_4, true);
	test_functions(BEFORE_6_4, false);
	test_addresses_are_used_again();
	test_what_cannot_be_read();
	return 0;
}
