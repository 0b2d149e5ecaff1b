/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests which file is found at an address after mapping over, forking and executing. */
#include "code/address_spaces.h"
#include "config/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "guest.h"
#include "names_given.h"

static const char OFFSETS[] = "arch x86_64\n"
			      "offset task_struct.mm 8\n"
			      "offset linux_binprm.mm 16\n"
			      "offset file.f_path.dentry 8\n"
			      "offset file.f_inode 16\n"
			      "offset dentry.d_name.name 8\n"
			      "offset dentry.d_parent 16\n";
static const char SHELL[] = "bootlab-functions 1\n1000 thunk .plt\n1040 - main\n1080 - execute\n10c0 end end\n2000 - late\n2010 end end\n";

/* Structs of the guest, a cache line apart and more. */
enum { TASKS = 0x10000, MMS = 0x20000, FILES = 0x30000, DENTRIES = 0x40000, INODES = 0x50000, TEXTS = 0x60000 };

static uint64_t task(unsigned n)
{
	return TASKS + 64 * n;
}

static uint64_t mm(unsigned n)
{
	return MMS + 64 * n;
}

static void put_dentry(unsigned n, const char *name, unsigned parent)
{
	guest_put_word(DENTRIES + 64 * n + 8, TEXTS + 64 * n);
	guest_put_word(DENTRIES + 64 * n + 16, DENTRIES + 64 * parent);
	guest_put_text(TEXTS + 64 * n, name);
}

static uint64_t put_file(unsigned n, unsigned dentry, unsigned inode)
{
	guest_put_word(FILES + 64 * n + 8, DENTRIES + 64 * dentry);
	guest_put_word(FILES + 64 * n + 16, INODES + 64 * inode);
	return FILES + 64 * n;
}

static void put_memory(unsigned n_task, uint64_t address)
{
	guest_put_word(task(n_task) + 8, address);
}

static int open_spaces(const char *objects, struct config *config, struct address_spaces *ret, char message[256])
{
	char text[1024];
	FILE *file;

	snprintf(text, sizeof text, "%s%s", OFFSETS, objects);
	file = fmemopen(text, strlen(text), "r");
	CHECK(file);
	CHECK(config_read(file, "boot.conf", message, 256, config) == 0);
	fclose(file);
	n_names_given = 0;
	guest_clear();
	put_dentry(0, "/", 0);
	put_dentry(1, "bin", 0);
	put_dentry(2, "shell", 1);
	put_dentry(3, "libc.so", 0);
	return address_spaces_init(config, &guest, NULL, message, 256, ret);
}

static bool map(struct address_spaces *spaces, unsigned n_task, uint64_t file, uint64_t address, uint64_t length, uint64_t page)
{
	char path[64] = "";
	const struct mapping mapping = {
		.task = task(n_task), .file = file, .address = address, .length = length, .page_offset = page
	};
	bool done = address_spaces_map(spaces, &mapping, path, sizeof path);

	CHECK(!done || path[0] == '/');
	return done;
}

static const char *name_at(struct address_spaces *spaces, unsigned n_task, uint64_t address, struct code_place *place)
{
	return address_spaces_find(spaces, task(n_task), address, place) ? name_given(place->function) : NULL;
}

static bool is_at(struct address_spaces *spaces, unsigned n_task, uint64_t address, const char *name)
{
	struct code_place place;
	const char *found = name_at(spaces, n_task, address, &place);

	return name ? found && !strcmp(found, name) : !found;
}

static void write_shell(char path[64])
{
	int handle;

	strcpy(path, "/tmp/bootlab-test-XXXXXX");
	handle = mkstemp(path);
	CHECK(handle >= 0);
	CHECK(write(handle, SHELL, strlen(SHELL)) == (ssize_t)strlen(SHELL));
	close(handle);
}

static void test_functions_by_offset(void)
{
	struct config config;
	struct address_spaces spaces;
	struct code_place a, b;
	char path[64], object[128], message[256];
	uint64_t shell, libc;

	write_shell(path);
	snprintf(object, sizeof object, "object [firmware] /nowhere\nobject /bin/shell %s\n", path);
	CHECK(open_spaces(object, &config, &spaces, message) == 0);
	shell = put_file(0, 2, 1);
	libc = put_file(1, 3, 2);
	put_memory(1, mm(1));
	put_memory(2, mm(2));
	CHECK(map(&spaces, 1, shell, 0x400000, 0x2000, 1));
	CHECK(map(&spaces, 2, shell, 0x7f0000001000, 0x2000, 1));
	CHECK(map(&spaces, 1, libc, 0x500000, 0x1000, 0));

	CHECK(!strcmp(name_at(&spaces, 1, 0x400050, &a), "main [shell]"));
	CHECK(a.flags == 0 && a.role == ROLE_PLAIN);
	/* The same code in another process, at another address. */
	CHECK(!strcmp(name_at(&spaces, 2, 0x7f0000001050, &b), "main [shell]"));
	CHECK(a.address == b.address && a.function == b.function);
	CHECK(!strcmp(name_at(&spaces, 1, 0x400080, &b), "execute [shell]"));
	CHECK(b.flags == CODE_START && b.address == a.address + 0x30);
	CHECK(names_given[b.function - FIRST_NUMBER].space == SPACE_USER);
	CHECK(name_at(&spaces, 1, 0x400000, &a) && a.role == ROLE_THUNK);
	CHECK(is_at(&spaces, 1, 0x401008, "late [shell]"));
	/* Between functions, before and behind them. */
	CHECK(!strcmp(name_at(&spaces, 1, 0x4000c0, &a), "[shell]") && a.flags == CODE_ANONYMOUS);
	CHECK(is_at(&spaces, 1, 0x401010, "[shell]"));
	CHECK(!strcmp(name_at(&spaces, 1, 0x500123, &b), "[libc.so]") && b.flags == CODE_ANONYMOUS);
	CHECK(b.address >> 40 != a.address >> 40 && (b.address & 0xffffff) == 0x123);
	CHECK(b.address > 0 && b.address < UINT64_C(1) << 59);
	CHECK(is_at(&spaces, 1, 0x402000, NULL) && is_at(&spaces, 2, 0x400050, NULL) && is_at(&spaces, 3, 0x400050, NULL));
	CHECK(!address_spaces_find(&spaces, 0, 0x400050, &a));
	CHECK(n_names_given == 6);
	address_spaces_deinit(&spaces);
	config_deinit(&config);
	unlink(path);
}

static void test_mapped_over(void)
{
	struct config config;
	struct address_spaces spaces;
	struct code_place place;
	char message[256];
	uint64_t shell, libc;

	CHECK(open_spaces("", &config, &spaces, message) == 0);
	shell = put_file(0, 2, 1);
	libc = put_file(1, 3, 2);
	put_memory(1, mm(1));
	CHECK(map(&spaces, 1, shell, 0x10000, 0x8000, 0x10));
	CHECK(map(&spaces, 1, libc, 0x12000, 0x2000, 0)); /* in the middle */
	CHECK(map(&spaces, 1, libc, 0xf000, 0x2000, 4));  /* over the start */
	CHECK(!map(&spaces, 1, 0, 0x17000, 0x2000, 0));	  /* nameless memory over the end */
	CHECK(is_at(&spaces, 1, 0x10fff, "[libc.so]"));
	CHECK(!strcmp(name_at(&spaces, 1, 0x11000, &place), "[shell]") && (place.address & 0xfffff) == 0x11000);
	CHECK(!strcmp(name_at(&spaces, 1, 0x13fff, &place), "[libc.so]") && (place.address & 0xfffff) == 0x1fff);
	CHECK(!strcmp(name_at(&spaces, 1, 0x14000, &place), "[shell]") && (place.address & 0xfffff) == 0x14000);
	CHECK(is_at(&spaces, 1, 0x16fff, "[shell]") && is_at(&spaces, 1, 0x17000, NULL));
	CHECK(map(&spaces, 1, libc, 0, 0x100000, 0)); /* over everything */
	CHECK(is_at(&spaces, 1, 0x11000, "[libc.so]") && is_at(&spaces, 1, 0x15000, "[libc.so]"));
	CHECK(!map(&spaces, 1, shell, UINT64_MAX - 10, 100, 0)); /* around the end of all addresses */
	CHECK(!map(&spaces, 1, shell, 0x1000, 0, 0));
	address_spaces_deinit(&spaces);
	config_deinit(&config);
}

static void test_fork_and_exec(void)
{
	const uint64_t program = TEXTS + 0x2000;
	struct config config;
	struct address_spaces spaces;
	char message[256];
	uint64_t shell, libc;

	CHECK(open_spaces("", &config, &spaces, message) == 0);
	shell = put_file(0, 2, 1);
	libc = put_file(1, 3, 2);
	put_memory(1, mm(1));
	CHECK(map(&spaces, 1, shell, 0x1000, 0x1000, 0));
	put_memory(2, mm(2)); /* a process */
	put_memory(3, mm(1)); /* a thread */
	put_memory(4, 0);     /* a kernel thread */
	for (unsigned child = 2; child <= 4; child++)
		address_spaces_fork(&spaces, task(1), task(child));
	CHECK(is_at(&spaces, 2, 0x1000, "[shell]") && is_at(&spaces, 3, 0x1000, "[shell]") && is_at(&spaces, 4, 0x1000, NULL));
	CHECK(map(&spaces, 3, libc, 0x2000, 0x1000, 0));
	CHECK(is_at(&spaces, 1, 0x2000, "[libc.so]") && is_at(&spaces, 2, 0x2000, NULL));

	guest_put_word(program + 16, mm(3));
	address_spaces_exec(&spaces, task(2), program);
	CHECK(is_at(&spaces, 2, 0x1000, NULL) && is_at(&spaces, 1, 0x1000, "[shell]"));
	put_memory(2, mm(3));
	CHECK(map(&spaces, 2, libc, 0x9000, 0x1000, 0));
	CHECK(is_at(&spaces, 2, 0x9000, "[libc.so]"));
	/* Memory of the old mm is another process's now. */
	put_memory(5, mm(2));
	address_spaces_fork(&spaces, task(2), task(5));
	CHECK(is_at(&spaces, 5, 0x9000, "[libc.so]") && is_at(&spaces, 5, 0x1000, NULL));
	address_spaces_exec(&spaces, task(2), 0xdead0000);
	CHECK(is_at(&spaces, 2, 0x9000, "[libc.so]"));
	/* The task_struct is a kernel thread's now. */
	put_memory(2, 0);
	address_spaces_fork(&spaces, task(4), task(2));
	CHECK(is_at(&spaces, 2, 0x9000, NULL));
	address_spaces_deinit(&spaces);
	config_deinit(&config);
}

static void test_names_of_files(void)
{
	struct config config;
	struct address_spaces spaces;
	char message[256], path[64], object[128];

	write_shell(path);
	snprintf(object, sizeof object, "object shell %s\n", path); /* wherever a file of this name is */
	CHECK(open_spaces(object, &config, &spaces, message) == 0);
	put_memory(1, mm(1));
	put_dentry(4, "loop", 4 + 1);
	put_dentry(5, "loop", 4);
	CHECK(map(&spaces, 1, put_file(0, 2, 1), 0x10000, 0x10000, 0));
	CHECK(is_at(&spaces, 1, 0x11040, "main [shell]"));
	CHECK(map(&spaces, 1, put_file(1, 4, 2), 0x20000, 0x1000, 0)); /* parents in a ring */
	CHECK(is_at(&spaces, 1, 0x20000, "[loop]"));
	CHECK(!map(&spaces, 1, put_file(2, 0, 3), 0x30000, 0x1000, 0)); /* a root */
	CHECK(!map(&spaces, 1, 0xdead0000, 0x40000, 0x1000, 0));
	/* An inode's memory that is used again is another file. */
	CHECK(map(&spaces, 1, put_file(3, 3, 1), 0x50000, 0x1000, 0));
	CHECK(is_at(&spaces, 1, 0x50000, "[libc.so]"));
	guest_put_word(TEXTS + 0x800, TEXTS + 0x900);
	guest_put_text(TEXTS + 0x900, "[vdso]");
	address_spaces_map_special(&spaces, (const uint64_t[]){ mm(1), 0x7ffff000, 0x2000, 0, TEXTS + 0x800 });
	address_spaces_map_special(&spaces, (const uint64_t[]){ mm(1), 0x80001000, 0x2000, 0, 0xdead0000 });
	address_spaces_map_special(&spaces, (const uint64_t[]){ 0, 0x90000000, 0x2000, 0, TEXTS + 0x800 });
	CHECK(is_at(&spaces, 1, 0x7ffff123, "[vdso]") && is_at(&spaces, 1, 0x7fffefff, NULL) && is_at(&spaces, 1, 0x80001000, NULL));
	address_spaces_deinit(&spaces);
	config_deinit(&config);
	unlink(path);
}

static void test_bad_objects(void)
{
	struct config config;
	struct address_spaces spaces;
	char message[256];

	CHECK(open_spaces("object shell /nowhere/functions.txt\n", &config, &spaces, message) == -ENOENT);
	CHECK(strstr(message, "/nowhere/functions.txt: No such file"));
	config_deinit(&config);
	CHECK(open_spaces("object shell /dev/null\n", &config, &spaces, message) == -EINVAL);
	CHECK(strstr(message, "/dev/null:1: expected"));
	config_deinit(&config);
}

int main(void)
{
	test_functions_by_offset();
	test_mapped_over();
	test_fork_and_exec();
	test_names_of_files();
	test_bad_objects();
	return 0;
}
