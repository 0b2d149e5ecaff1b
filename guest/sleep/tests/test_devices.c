/* SPDX-License-Identifier: MIT */
/* Tests what is made of a trace: pairs of lines, names with blanks in them, what is not of a device that wakes, and too much. */
#include "sleep/devices.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

static struct wakes wakes;

static void take(const char *line)
{
	wakes_take(&wakes, slice_of(line));
}

static void begin(const char *us, const char *who, const char *verb)
{
	char line[600];

	snprintf(line, sizeof line, "  kworker/u2:1-33  [000] .....  12.%s: device_pm_callback_start: %s, parent: pci0, bus [%s]", us, who, verb);
	take(line);
}

static void end(const char *us, const char *who)
{
	char line[600];

	snprintf(line, sizeof line, "  kworker/u2:1-33  [000] .....  12.%s: device_pm_callback_end: %s, err=0", us, who);
	take(line);
}

static const struct wake *of(const char *device)
{
	for (size_t i = 0; i < wakes.n; i++)
		if (!strcmp(wakes.list[i].device, device))
			return &wakes.list[i];
	return NULL;
}

static void test_times_of_a_device_are_added_up(void)
{
	memset(&wakes, 0, sizeof wakes);
	begin("000100", "e1000e 0000:00:03.0", "resume");
	begin("000150", "usb usb1", "resume");
	end("053100", "e1000e 0000:00:03.0");
	end("350150", "usb usb1");
	begin("400000", "e1000e 0000:00:03.0", "resume");
	end("400007", "e1000e 0000:00:03.0");
	CHECK(wakes.n == 2 && !wakes.broken && !wakes.left_out);
	CHECK(of("0000:00:03.0")->us == 53007 && !strcmp(of("0000:00:03.0")->driver, "e1000e"));
	wakes_sort(&wakes);
	CHECK(!strcmp(wakes.list[0].device, "usb1") && wakes.list[0].us == 350000);
}

static void test_falling_asleep_is_not_waking(void)
{
	memset(&wakes, 0, sizeof wakes);
	begin("000100", "e1000e 0000:00:03.0", "suspend");
	end("900000", "e1000e 0000:00:03.0");
	begin("900001", "e1000e 0000:00:03.0", "resume");
	end("900003", "e1000e 0000:00:03.0");
	end("900009", "e1000e 0000:00:03.0");
	CHECK(wakes.n == 1 && wakes.list[0].us == 2);
}

static void test_a_driver_may_have_blanks_in_its_name(void)
{
	memset(&wakes, 0, sizeof wakes);
	begin("000001", "i8042 kbd serio0", "resume");
	end("000004", "i8042 kbd serio0");
	CHECK(wakes.n == 1 && !strcmp(wakes.list[0].driver, "i8042 kbd") && !strcmp(wakes.list[0].device, "serio0"));
}

static void test_what_is_no_such_line_is_passed_over_or_counted(void)
{
	memset(&wakes, 0, sizeof wakes);
	take("# tracer: nop");
	take("");
	take("  x-1 [000] 1.000001: suspend_resume: resume_console[1] end");
	CHECK(!wakes.n && !wakes.broken);
	take("device_pm_callback_start: e1000e 0000:00:03.0, parent: pci0, bus [resume]");
	take("  x-1 [000] 1.1: device_pm_callback_start: e1000e 0000:00:03.0, parent: pci0, bus [resume]");
	take("  x-1 [000] a.000001: device_pm_callback_start: e1000e 0000:00:03.0, parent: pci0, bus [resume]");
	take("  x-1 [000] 1.000001: device_pm_callback_start: e1000e 0000:00:03.0 [resume]");
	take("  x-1 [000] 1.000001: device_pm_callback_start: e1000e, parent: pci0, bus [resume]");
	take("  x-1 [000] 1.000001: device_pm_callback_end: e1000e 0000:00:03.0");
	CHECK(!wakes.n && wakes.broken == 6);
}

static void test_names_are_cut_and_devices_counted(void)
{
	char who[512];

	memset(&wakes, 0, sizeof wakes);
	snprintf(who, sizeof who, "drv %0200d", 7);
	begin("000001", who, "resume");
	end("000003", who);
	CHECK(wakes.n == 1 && wakes.list[0].us == 2 && strlen(wakes.list[0].device) == DEVICE_NAME - 1);
	for (int i = 0; i < WAKES_MAX + 9; i++) {
		snprintf(who, sizeof who, "drv device%d", i);
		begin("000001", who, "resume");
		end("000002", who);
	}
	CHECK(wakes.n == WAKES_MAX && wakes.left_out == 10);
}

int main(void)
{
	test_times_of_a_device_are_added_up();
	test_falling_asleep_is_not_waking();
	test_a_driver_may_have_blanks_in_its_name();
	test_what_is_no_such_line_is_passed_over_or_counted();
	test_names_are_cut_and_devices_counted();
	return 0;
}
