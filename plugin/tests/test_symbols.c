/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests how exported names are found, all missing ones are told, and how large a variable is. */
#include "internals/symbols.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

int exported_function(void);
uint64_t exported_variable[5];

int exported_function(void)
{
	return 42;
}

int main(void)
{
	int (*function)(void) = NULL, (*missing)(void) = exported_function;
	const uint64_t *variable;
	const struct wanted_symbol there[] = { { "exported_function", &function }, { "exported_variable", &variable } };
	const struct wanted_symbol not_there[] = {
		{ "exported_function", &function }, { "no_such_name", &missing }, { "nor_this", &missing }
	};
	char message[128] = "";

	CHECK(symbols_find(there, 2, message, sizeof message) == 0);
	CHECK(function() == 42 && variable == exported_variable && message[0] == '\0');
	CHECK(symbol_size(exported_variable) == sizeof exported_variable);
	CHECK(symbol_size(exported_variable + 1) == 0); /* within one: no variable begins there */
	CHECK(symbol_size(message) == 0);
	CHECK(symbols_find(not_there, 3, message, sizeof message) == -ENOTSUP);
	CHECK(!missing && !strcmp(message, "this QEMU does not export no_such_name, nor_this"));
	/* However short the message may be. */
	CHECK(symbols_find(not_there, 3, message, 20) == -ENOTSUP);
	CHECK(!strcmp(message, "this QEMU does not "));
	puts("test_symbols: ok");
	return 0;
}
