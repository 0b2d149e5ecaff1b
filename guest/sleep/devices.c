/* SPDX-License-Identifier: MIT */
/* Has the kernel trace what the drivers do as the machine wakes, and adds it up by device. */
#include "devices.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/files.h"

#define TRACING "/sys/kernel/tracing"
#define INSTANCE TRACING "/instances/bootlab-sleep"
#define EVENTS INSTANCE "/events/power/"

enum { LINE = 1024 };

static const char START[] = "device_pm_callback_start: ", END[] = "device_pm_callback_end: ";
static const char *const KNOBS[][2] = {
	/* What came last is kept: the waking, not the falling asleep. */
	{ INSTANCE "/options/overwrite", "1" },
	{ INSTANCE "/trace_clock", "mono" },
	{ EVENTS "device_pm_callback_start/enable", "1" },
	{ EVENTS "device_pm_callback_end/enable", "1" },
};

/* Where `what` begins in a line, which is not ended; NULL: nowhere. */
static const char *find(struct slice line, const char *what)
{
	return memmem(line.at, line.size, what, strlen(what));
}

/* The time that stands before an event: seconds, a point, six digits. */
static bool time_before(struct slice line, const char *event, uint64_t *ret_us)
{
	const char *end = event, *at;
	char digits[32];
	size_t n = 0;

	/* "  12.345678: device_pm_" */
	while (end > line.at && (end[-1] == ' ' || end[-1] == ':'))
		end--;
	for (at = end; at > line.at && at[-1] != ' ' && n < sizeof digits - 1; at--)
		n++;
	if (n < 8 || at[n - 7] != '.')
		return false;
	memcpy(digits, at, n - 7);
	memcpy(digits + n - 7, at + n - 6, 6);
	digits[n - 1] = '\0';
	if (strspn(digits, "0123456789") != n - 1)
		return false;
	*ret_us = strtoull(digits, NULL, 10);
	return true;
}

/* "DRIVER DEVICE" up to `end`: a driver's name may have blanks in it, a device's has none. */
static bool split(const char *begin, const char *end, struct slice *driver, struct slice *device)
{
	const char *blank = end;

	while (blank > begin && blank[-1] != ' ')
		blank--;
	if (blank <= begin || blank == end)
		return false;
	*driver = (struct slice){ begin, (size_t)(blank - 1 - begin) };
	*device = (struct slice){ blank, (size_t)(end - blank) };
	return true;
}

static bool is(const char *kept, size_t size, struct slice name)
{
	size_t n = name.size < size - 1 ? name.size : size - 1;

	return strlen(kept) == n && !memcmp(kept, name.at, n);
}

static struct wake *wake_of(struct wakes *wakes, struct slice driver, struct slice device, bool new)
{
	struct wake *wake;

	for (size_t i = 0; i < wakes->n; i++)
		if (is(wakes->list[i].device, DEVICE_NAME, device) && is(wakes->list[i].driver, DRIVER_NAME, driver))
			return &wakes->list[i];
	if (!new)
		return NULL;
	if (wakes->n == WAKES_MAX) {
		wakes->left_out++;
		return NULL;
	}
	wake = &wakes->list[wakes->n++];
	snprintf(wake->device, sizeof wake->device, "%.*s", (int)device.size, device.at);
	snprintf(wake->driver, sizeof wake->driver, "%.*s", (int)driver.size, driver.at);
	return wake;
}

void wakes_take(struct wakes *wakes, struct slice line)
{
	const char *start = find(line, START), *end = find(line, END), *event = start ? start : end, *stop;
	struct slice driver, device;
	struct wake *wake;
	uint64_t t_us;

	if (!event)
		return;
	/* "[resume]" ends the line of a callback that wakes; its end does not say what it was. */
	if (start && !slice_ends(line, "[resume]"))
		return;
	stop = find(line, start ? ", parent:" : ", err=");
	event += start ? sizeof START - 1 : sizeof END - 1;
	if (!stop || stop < event || !split(event, stop, &driver, &device) || !time_before(line, start ? start : end, &t_us)) {
		wakes->broken++;
		return;
	}
	wake = wake_of(wakes, driver, device, start != NULL);
	if (!wake)
		return;
	if (!start && wake->under_way && t_us >= wake->began_us)
		wake->us += t_us - wake->began_us;
	wake->under_way = start != NULL;
	wake->began_us = t_us;
}

static int longer_first(const void *one, const void *other)
{
	const struct wake *a = one, *b = other;

	return a->us != b->us ? (a->us < b->us ? 1 : -1) : strcmp(a->device, b->device);
}

void wakes_sort(struct wakes *wakes)
{
	qsort(wakes->list, wakes->n, sizeof *wakes->list, longer_first);
}

int devices_begin(void)
{
	int r = 0;

	/* Mounted already, or not there at all: mkdir says which. */
	mount("tracefs", TRACING, "tracefs", MS_NOSUID | MS_NOEXEC | MS_NODEV, NULL);
	if (mkdir(INSTANCE, 0700) && errno != EEXIST)
		return -errno;
	for (size_t i = 0; !r && i < sizeof KNOBS / sizeof *KNOBS; i++)
		r = file_write(KNOBS[i][0], KNOBS[i][1]);
	if (r)
		rmdir(INSTANCE);
	return r;
}

/* "# entries-in-buffer/entries-written: 12/34": of 34 events 22 are gone. */
static uint64_t lost_of(const char *line)
{
	unsigned long long there, written;

	if (sscanf(line, "# entries-in-buffer/entries-written: %llu/%llu", &there, &written) != 2 || written < there)
		return 0;
	return written - there;
}

int devices_end(struct wakes *ret, uint64_t *lost)
{
	static char line[LINE];
	FILE *trace = fopen(INSTANCE "/trace", "re");
	int r = trace ? 0 : -errno;

	memset(ret, 0, sizeof *ret);
	*lost = 0;
	while (trace && fgets(line, sizeof line, trace)) {
		*lost += lost_of(line);
		wakes_take(ret, (struct slice){ line, strcspn(line, "\n") });
	}
	if (trace)
		fclose(trace);
	/* The reader is closed: an instance that is read cannot be removed. */
	rmdir(INSTANCE);
	wakes_sort(ret);
	return r;
}
