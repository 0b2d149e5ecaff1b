/* SPDX-License-Identifier: MIT */
/* Tests what is done before a machine sleeps, in a folder that stands for /: settings, devices that are late, and what is wrong. */
#include "sleep/before.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

#define USB "0000:00:02.0"
#define CARD "0000:00:03.0"
#define DISK "0000:00:1f.2"

static char root[64];
static struct lates lates;
static bool keeps_caches;

static const char *path_of(const char *path)
{
	static char whole[512];

	snprintf(whole, sizeof whole, "%s%s", root, path);
	return whole;
}

/* With the folders that lead to it. */
static void put(const char *path, const char *text)
{
	char whole[512];
	FILE *file;

	snprintf(whole, sizeof whole, "%s", path_of(path));
	for (char *at = whole + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		CHECK(!mkdir(whole, 0700) || errno == EEXIST);
		*at = '/';
	}
	file = fopen(whole, "w");
	CHECK(file && fputs(text, file) >= 0 && !fclose(file));
}

static bool holds(const char *path, const char *text)
{
	char got[512] = "";
	FILE *file = fopen(path_of(path), "r");

	CHECK(file);
	got[fread(got, 1, sizeof got - 1, file)] = '\0';
	fclose(file);
	return !strcmp(got, text);
}

static void put_link(const char *path, const char *to)
{
	char whole[512];

	snprintf(whole, sizeof whole, "%s", path_of(to));
	unlink(path_of(path));
	CHECK(!symlink(whole, path_of(path)));
}

static void put_device(const char *name, const char *class, const char *driver)
{
	char path[256], to[256];

	snprintf(path, sizeof path, "/sys/devices/pci0000:00/%s/class", name);
	put(path, class);
	snprintf(path, sizeof path, "/sys/bus/pci/drivers/%s/unbind", driver);
	put(path, "");
	snprintf(path, sizeof path, "/sys/bus/pci/drivers/%s/bind", driver);
	put(path, "");
	snprintf(path, sizeof path, "/sys/devices/pci0000:00/%s/driver", name);
	snprintf(to, sizeof to, "/sys/bus/pci/drivers/%s", driver);
	put_link(path, to);
	snprintf(path, sizeof path, "/sys/bus/pci/devices/%s", name);
	snprintf(to, sizeof to, "/sys/devices/pci0000:00/%s", name);
	put_link(path, to);
}

static void put_machine(void)
{
	put("/sys/bus/pci/devices/none", "");
	put_device(USB, "0x0c0330\n", "xhci_hcd");
	put_device(CARD, "0x020000\n", "e1000e");
	put_device(DISK, "0x010601\n", "ahci");
	put("/sys/devices/pci0000:00/" DISK "/ata1/block/sda/size", "8\n");
	put("/sys/class/block/none", "");
	put_link("/sys/class/block/sda", "/sys/devices/pci0000:00/" DISK "/ata1/block/sda");
}

/* What it says of itself. */
static const char *sleep_with(const char *text)
{
	static char said[2048];
	int out = dup(1);

	put("/etc/bootlab/sleep.d/it", text);
	CHECK(fflush(stdout) == 0 && freopen(path_of("/said"), "w", stdout));
	keeps_caches = before_sleep(root, &lates);
	bind_again(&lates);
	CHECK(fflush(stdout) == 0 && dup2(out, 1) == 1 && !close(out));
	FILE *file = fopen(path_of("/said"), "r");

	CHECK(file);
	said[fread(said, 1, sizeof said - 1, file)] = '\0';
	fclose(file);
	return said;
}

static void test_settings_are_written_where_the_pattern_matches(void)
{
	put("/sys/bus/usb/devices/1-1/power/persist", "1\n");
	put("/sys/bus/usb/devices/1-2/power/persist", "1\n");
	put("/sys/bus/usb/devices/usb1/power/control", "on\n");
	CHECK(strstr(sleep_with("# of USB\n\nwrite /sys/bus/usb/devices/*/power/persist 0 \n"),
		     "fact before_sleep.it 2 written, 0 not taken, 0 late, 0 lines not understood\n"));
	CHECK(holds("/sys/bus/usb/devices/1-1/power/persist", "0\n") && holds("/sys/bus/usb/devices/1-2/power/persist", "0\n"));
	CHECK(holds("/sys/bus/usb/devices/usb1/power/control", "on\n"));
	CHECK(strstr(sleep_with("write /sys/nowhere/* 0\nwrite /sys/bus/usb/devices/1-1 0\n"), "it 0 written, 1 not taken"));
}

static void test_devices_of_a_class_are_taken_off_and_bound_again(void)
{
	const char *said = sleep_with("late /sys/bus/pci/devices/* class 0x0c03\n");

	CHECK(strstr(said, "0 written, 0 not taken, 1 late") && lates.n == 1 && !strcmp(lates.list[0].name, USB));
	CHECK(strstr(said, "fact late.it " USB "\n") && strstr(said, "fact late_back.it " USB "\n"));
	CHECK(holds("/sys/bus/pci/drivers/xhci_hcd/unbind", USB) && holds("/sys/bus/pci/drivers/xhci_hcd/bind", USB));
	CHECK(holds("/sys/bus/pci/drivers/e1000e/unbind", ""));
}

static void test_a_device_is_named_and_one_without_a_driver_keeps_nobody_waiting(void)
{
	CHECK(strstr(sleep_with("late /sys/bus/pci/devices/" CARD "\n"), "fact late.it " CARD "\n"));
	CHECK(holds("/sys/bus/pci/drivers/e1000e/unbind", CARD));
	CHECK(!unlink(path_of("/sys/devices/pci0000:00/" CARD "/driver")));
	CHECK(strstr(sleep_with("late /sys/bus/pci/devices/" CARD "\n"), " 0 late") && !lates.n);
}

static void test_what_carries_a_disk_keeps_its_driver(void)
{
	const char *said = sleep_with("late /sys/bus/pci/devices/*\n");

	CHECK(strstr(said, "fact late_kept." DISK " the disk sda hangs on it\n") && strstr(said, "fact late.it " USB " " CARD "\n"));
	CHECK(lates.n == 2 && holds("/sys/bus/pci/drivers/ahci/unbind", ""));
}

static void test_a_device_that_does_not_come_back_fails_the_check(void)
{
	CHECK(!unlink(path_of("/sys/bus/pci/drivers/e1000e/bind")));
	CHECK(strstr(sleep_with("late /sys/bus/pci/devices/" CARD "\n"), "check failed: " CARD " does not come back: e1000e: No such file"));
}

static void test_caches_are_kept_where_a_line_says_so(void)
{
	CHECK(strstr(sleep_with("keep caches\n"), " 0 lines not understood\n") && keeps_caches);
	CHECK(strstr(sleep_with("keep\nkeep caches all\nkeep files\n"), " 3 lines not understood\n") && !keeps_caches);
	/* One of several files is enough. */
	put("/etc/bootlab/sleep.d/again", "keep caches\n");
	CHECK(strstr(sleep_with("\n"), " 0 lines not understood\n") && keeps_caches);
	CHECK(!unlink(path_of("/etc/bootlab/sleep.d/again")));
}

static void test_what_cannot_be_done_is_said(void)
{
	static char much[5000];

	CHECK(strstr(sleep_with("late\nwrite /sys/bus\nlate /sys/* class\nlate /sys/* class 0x a\nlate /sys/* of\nlater /sys/*\n"),
		     " 0 late, 6 lines not understood\n"));
	CHECK(!unlink(path_of("/sys/bus/pci/drivers/xhci_hcd/unbind")));
	CHECK(strstr(sleep_with("late /sys/bus/pci/devices/" USB "\n"), "fact late_kept." USB " No such file") && !lates.n);
	memset(much, '\n', sizeof much - 1);
	CHECK(strstr(sleep_with(much), "fact before_sleep.it not read: it is too long\n"));
}

static void test_without_files_nothing_is_done(void)
{
	lates.n = 1;
	CHECK(!unlink(path_of("/etc/bootlab/sleep.d/it")) && !rmdir(path_of("/etc/bootlab/sleep.d")));
	CHECK(!before_sleep(root, &lates) && !lates.n);
}

int main(void)
{
	void (*const tests[])(void) = {
		test_settings_are_written_where_the_pattern_matches,
		test_devices_of_a_class_are_taken_off_and_bound_again,
		test_a_device_is_named_and_one_without_a_driver_keeps_nobody_waiting,
		test_what_carries_a_disk_keeps_its_driver,
		test_a_device_that_does_not_come_back_fails_the_check,
		test_caches_are_kept_where_a_line_says_so,
		test_what_cannot_be_done_is_said,
	};
	char clear[128];

	strcpy(root, "/tmp/bootlab-before-XXXXXX");
	CHECK(mkdtemp(root));
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		put_machine();
		tests[i]();
	}
	test_without_files_nothing_is_done();
	snprintf(clear, sizeof clear, "rm -r %s", root);
	CHECK(!system(clear));
	return 0;
}
