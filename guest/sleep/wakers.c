/* SPDX-License-Identifier: MIT */
/* Sets the alarm of a machine's clock, and lets its keyboards wake it. */
#include "wakers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "shared/files.h"

#define PORTS "/sys/bus/serio/devices"

enum { PORTS_BYTES = 4096, PATH_BYTES = 4096, ALARM_MAX = 64 };

int wakers_let_keyboards(void)
{
	static char bytes[PORTS_BYTES];
	struct arena arena = { .bytes = bytes, .size = sizeof bytes };
	struct listing ports;
	char path[PATH_BYTES];
	int r = folder_list(PORTS, &arena, &ports);

	if (!r && !ports.n)
		return -ENODEV;
	for (size_t i = 0; !r && i < ports.n; i++) {
		snprintf(path, sizeof path, PORTS "/%s/power/wakeup", ports.names[i]);
		r = file_write(path, "enabled");
	}
	return r;
}

int wakers_set_alarm(const char *word)
{
	char alarm[ALARM_MAX + 1], now[ALARM_MAX] = "";
	ssize_t n;

	snprintf(alarm, sizeof alarm, "%s%s", *word == '@' ? "" : "+", *word == '@' ? word + 1 : word);
	if (*word == '@') {
		n = file_read(WAKERS_CLOCK "since_epoch", now, sizeof now - 1);
		if (n < 0)
			return (int)n;
		if (strtoll(alarm, NULL, 10) <= strtoll(now, NULL, 10))
			return -ETIME;
	}
	return file_write(WAKERS_ALARM, alarm);
}
