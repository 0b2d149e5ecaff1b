/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Presses keys of the guest's keyboard, whichever it has. No QEMU headers. */
#ifndef BOOTLAB_KEYBOARD_H
#define BOOTLAB_KEYBOARD_H

#include <stdbool.h>
#include <stddef.h>

struct keyboard {
	const void *names;
	int (*find)(const void *names, const char *name, int otherwise, void **error);
	void (*send)(void *console, int key, bool down);
};

/* Find QEMU's functions, and prove that it tells keys apart by their names. 0, or -ENOTSUP with one line in `message`. */
int keyboard_open(char *message, size_t message_size, struct keyboard *ret);

/* QEMU's number of a key (QKeyCode: `a`, `ret`, `shift`); -1 for a name that it does not know. */
int keyboard_find(const struct keyboard *keyboard, const char *name);

/* Holding QEMU's lock, while the machine runs: the keyboard has the key, and has raised its interrupt, when this returns. */
void keyboard_send(const struct keyboard *keyboard, int key, bool down);

#endif
