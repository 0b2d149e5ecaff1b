/* SPDX-License-Identifier: MIT */
/* Suspends the machine, and tells how long its devices took to wake. */
#include "suspend.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "before.h"
#include "devices.h"
#include "said.h"
#include "shared/files.h"
#include "wakers.h"

enum { WORD = 64, TOLD = 48, LEAST_US = 100 };

/* Every line takes time on a serial console: the longest are named, the rest is counted. */
static void tell_devices(void)
{
	static struct wakes wakes;
	uint64_t lost, rest_us = 0;
	int r = devices_end(&wakes, &lost);
	size_t told = 0;

	if (r) {
		printf("bootlab: fact wake_untold %s\n", strerror(-r));
		return;
	}
	for (; told < wakes.n && told < TOLD && wakes.list[told].us >= LEAST_US; told++) {
		const struct wake *wake = &wakes.list[told];

		printf("bootlab: fact wake.%zu %llu %s %s\n", told, (unsigned long long)wake->us, wake->device, wake->driver);
	}
	for (size_t i = told; i < wakes.n; i++)
		rest_us += wakes.list[i].us;
	printf("bootlab: fact wake_rest %zu %llu\n", wakes.n - told, (unsigned long long)rest_us);
	if (lost || wakes.left_out || wakes.broken)
		printf("bootlab: fact wake_lost %llu %u %u\n", (unsigned long long)lost, wakes.left_out, wakes.broken);
}

int suspend(const char *state)
{
	static struct lates lates;
	char none[WORD], alarm[WORD];
	bool devices = read_word("bootlab.sleep.devices", none, sizeof none);
	int r, untold = 0;

	if (!strcmp(state, "mem")) {
		r = file_write("/sys/power/mem_sleep", "deep");
		/* A kernel without that file knows no other way; one that refuses the word would only idle. */
		if (r && r != -ENOENT)
			return fail_to_sleep("S3 (deep)", r);
	} else if ((r = wakers_let_keyboards())) {
		return fail_to_sleep("a keyboard that wakes it", r);
	}
	if (read_word("bootlab.sleep.alarm=", alarm, sizeof alarm) && (r = wakers_set_alarm(alarm)))
		return fail_to_sleep(r == -ETIME ? "the time of its alarm is over" : "the alarm of its clock, " WAKERS_ALARM, r);
	if (devices && (untold = devices_begin()))
		printf("bootlab: fact wake_untold %s\n", strerror(-untold));
	make_mark("suspending");
	before_sleep("", &lates);
	r = file_write("/sys/power/state", state);
	if (r) {
		bind_again(&lates);
		return fail_to_sleep("the kernel", r);
	}
	make_mark("woke");
	bind_when_idle(&lates);
	if (devices && !untold)
		tell_devices();
	return 0;
}
