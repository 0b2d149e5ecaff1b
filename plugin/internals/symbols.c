/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks up QEMU's exported names, and says which of them a QEMU does not have. */
#define _GNU_SOURCE
#include "symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

void symbol_find(const char *name, void *ret)
{
	void *symbol = dlsym(RTLD_DEFAULT, name);

	/* ISO C has no cast from void * to a function pointer; POSIX promises that the bits are the same. */
	memcpy(ret, &symbol, sizeof symbol);
}

int symbols_find(const struct wanted_symbol *wanted, size_t count, char *message, size_t message_size)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		void *symbol;

		symbol_find(wanted[i].name, wanted[i].pointer);
		memcpy(&symbol, wanted[i].pointer, sizeof symbol);
		if (symbol || used >= message_size)
			continue;
		used += (size_t)snprintf(message + used, message_size - used, "%s%s",
					 used ? ", " : "this QEMU does not export ", wanted[i].name);
	}
	return used ? -ENOTSUP : 0;
}

size_t symbol_size(const void *address)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (!dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol || info.dli_saddr != address)
		return 0;
	return symbol->st_size;
}
