/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the proof that keys are known by their names, and that they are sent, on functions of our own. */
#include "internals/keyboard.h"

#include <errno.h>
#include <string.h>

#include "check.h"

static struct {
	bool all_alike, knows_all;
	int sent, key;
	bool down;
} qemu;

/* As QEMU's is: a variable that only its function looks into. */
extern const char QKeyCode_lookup[4];
const char QKeyCode_lookup[4] = "abc";

int qapi_enum_parse(const void *names, const char *name, int otherwise, void **error);
void qemu_input_event_send_key_qcode(void *console, int key, bool down);

int qapi_enum_parse(const void *names, const char *name, int otherwise, void **error)
{
	CHECK(names == QKeyCode_lookup && !error);
	if (strlen(name) == 1 && strchr(QKeyCode_lookup, name[0]))
		return qemu.all_alike ? 1 : name[0] - 'a';
	return qemu.knows_all ? 1 : otherwise;
}

void qemu_input_event_send_key_qcode(void *console, int key, bool down)
{
	CHECK(!console);
	qemu.sent++;
	qemu.key = key;
	qemu.down = down;
}

static void check_refused(void)
{
	struct keyboard keyboard;
	char message[128] = "";

	CHECK(keyboard_open(message, sizeof message, &keyboard) == -ENOTSUP);
	CHECK(!strcmp(message, "QEMU does not tell keys apart by their names"));
}

int main(void)
{
	struct keyboard keyboard;
	char message[128];

	CHECK(keyboard_open(message, sizeof message, &keyboard) == 0 && qemu.sent == 0);
	CHECK(keyboard_find(&keyboard, "c") == 2 && keyboard_find(&keyboard, "d") == -1);
	keyboard_send(&keyboard, 2, true);
	CHECK(qemu.sent == 1 && qemu.key == 2 && qemu.down);
	qemu.all_alike = true;
	check_refused();
	qemu.all_alike = false;
	qemu.knows_all = true;
	check_refused();
	puts("test_keyboard: ok");
	return 0;
}
