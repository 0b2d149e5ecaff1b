/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for the mark behind which the guest falls asleep; then lets its clock go on, and sets the timer of the key. */
#include "sleeper.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "internals/keyboard.h"
#include "internals/suspended_clock.h"
#include "recording.h"

static struct {
	bool works, clock_due, clock_begun, press_due, pressed;
	struct suspended_clock clock;
	struct keyboard keyboard;
	int key;
	int64_t press_ns;
} sleeper;

static int find_key(char *message, size_t message_size)
{
	const char *name = recording.config.press.key;
	int r = keyboard_open(message, message_size, &sleeper.keyboard);

	if (r)
		return r;
	sleeper.key = keyboard_find(&sleeper.keyboard, name);
	if (sleeper.key >= 0)
		return virtual_timers_open(&recording.machine.skipped_ns, message, message_size, &recording.timers);
	snprintf(message, message_size, "this QEMU knows no key '%s'", name);
	return -ENOTSUP;
}

void sleeper_open(void)
{
	char message[512] = "needs the virtual clock, -icount shift=0,sleep=off";
	const struct config *config = &recording.config;
	int r = recording.machine.shift < 0 ? -ENOTSUP : 0;

	if (!config->asleep_after[0] && !config->press.key[0])
		return;
	if (!r && config->asleep_after[0])
		r = suspended_clock_open(message, sizeof message, &sleeper.clock);
	if (!r && config->press.key[0])
		r = find_key(message, sizeof message);
	sleeper.works = !r;
	pthread_mutex_lock(&recording.lock);
	if (r)
		writer_refused(&recording.writer, "sleep", message);
	else
		writer_exact(&recording.writer, "sleep");
	pthread_mutex_unlock(&recording.lock);
}

void sleeper_keep_mark(const char *name, struct stamp at)
{
	const struct config *config = &recording.config;

	if (!sleeper.works)
		return;
	if (!sleeper.clock_begun && !strcmp(name, config->asleep_after))
		sleeper.clock_due = sleeper.clock_begun = true;
	if (config->press.key[0] && !sleeper.pressed && !strcmp(name, config->press.after)) {
		sleeper.press_due = sleeper.pressed = true;
		sleeper.press_ns = at.t_ns + (int64_t)config->press.t_ns;
	}
}

/* QEMU runs it between two blocks, while no vCPU has anything to do, or in its main thread while the machine is suspended. */
static void on_press(void *opaque)
{
	(void)opaque;
	keyboard_send(&sleeper.keyboard, sleeper.key, true);
	keyboard_send(&sleeper.keyboard, sleeper.key, false);
}

void sleeper_begin(void)
{
	if (sleeper.clock_due) {
		sleeper.clock_due = false;
		suspended_clock_begin(&sleeper.clock);
	}
	if (sleeper.press_due) {
		sleeper.press_due = false;
		if (virtual_timers_add(&recording.timers, sleeper.press_ns, on_press, NULL))
			fprintf(stderr, "bootlab-plugin: press %s: out of memory\n", recording.config.press.key);
	}
}
