/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds keys by their names in QEMU's own list, and sends them to the keyboard. */
#include "keyboard.h"

#include <errno.h>
#include <stdio.h>

#include "symbols.h"

int keyboard_open(char *message, size_t message_size, struct keyboard *ret)
{
	struct keyboard keyboard;
	const struct wanted_symbol wanted[] = {
		{ "QKeyCode_lookup", &keyboard.names },
		{ "qapi_enum_parse", &keyboard.find },
		{ "qemu_input_event_send_key_qcode", &keyboard.send },
	};
	int r = symbols_find(wanted, sizeof wanted / sizeof *wanted, message, message_size);
	int a, b;

	if (r)
		return r;
	a = keyboard_find(&keyboard, "a");
	b = keyboard_find(&keyboard, "b");
	if (a < 0 || b < 0 || a == b || keyboard_find(&keyboard, "bootlab-no-such-key") != -1) {
		snprintf(message, message_size, "QEMU does not tell keys apart by their names");
		return -ENOTSUP;
	}
	*ret = keyboard;
	return 0;
}

int keyboard_find(const struct keyboard *keyboard, const char *name)
{
	return keyboard->find(keyboard->names, name, -1, NULL);
}

void keyboard_send(const struct keyboard *keyboard, int key, bool down)
{
	keyboard->send(NULL, key, down);
}
