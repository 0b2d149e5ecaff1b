/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests how a config is read: a whole one, wrong and long lines, places of probes, arm, code. */
#include "config/read.h"

#include <errno.h>
#include <string.h>

#include "check.h"

static const char WHOLE[] = "# made by bootlab\n"
			    "\n"
			    "arch x86_64\n"
			    "image image_entry 10200 eb??48647253\n"
			    "image wake fffffff0 ???????? after suspending\n"
			    "entry kernel_entry ffffffff81000000 488d25513fa00148\n"
			    "mark start_kernel ffffffff8304ce41 e8fae701fe415645\n"
			    "mark initcalls_end ffffffff81002bc0 e87b8a0600488b3d from ffffffff8304d5b3 ffffffff8304d82d\n"
			    "mark init_exec FFFFFFFF819BC42E E80DF26AFF554889\n"
			    "user first_user_instruction init_exec\n"
			    "calls initcall ffffffff81002460 e8db9106004155b9\n"
			    "guestmarks\n"
			    "exactdisks\n"
			    "disk rootfs head\n"
			    "figure rootfs turn_ns 8333333\n"
			    "disk disk0 flash\n"
			    "keepwrites disk0\n"
			    "charge serial ffffffff81003000 e8db9106004155b9 2500\n"
			    "price pio_kvm in 40 43 0 0 900\n"
			    "price cr cr_write 0 0 fffffff5 1 800\n"
			    "touch fault_2M 200000 8000000 21 60000\n"
			    "kvm 100807b\n"
			    "mark wake ffffffff81004000 e8fae701fe415646 after suspending\n"
			    "asleep suspending\n"
			    "press wake 3000000000 suspending\n"
			    "at 500000000 half_a_second\n"
			    "network 7 net0\n"
			    "functions /a path/with  blanks/kernel.txt\n"
			    "hook switch ffffffff81001000\n"
			    "hook console_initcalls ffffffff81002000\n"
			    "offset task_struct.comm 2976\n"
			    "span 1000\n"
			    "object /bin/busy-box /a path/of many words and one more than eight/b.txt\n"
			    "object [firmware] f\n"
			    "program DxeCore 16 8192 cbc 0011223344556677\n"
			    "loader GRUB 4096 65536 0 7766554433221100\n"
			    "uart 3f8\n"
			    "cutlines\n"
			    "traps\n"
			    "pause kept\n"
			    "skip start_kernel 1500000\n"
			    "slide 1f000000\n"
			    "past before\n"
			    "past earlier\n"
			    "stop ready"; /* a last line without its newline is a line */

static int read_text(const char *text, char message[256], struct config *ret)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	int r;

	CHECK(file);
	message[0] = '\0';
	r = config_read(file, "boot.conf", message, 256, ret);
	fclose(file);
	return r;
}

static void test_whole(void)
{
	struct config config;
	char message[256];
	uint64_t offset = 0;

	CHECK(read_text(WHOLE, message, &config) == 0);
	CHECK(config.arch == ARCH_X86_64);
	CHECK(config.n_probes == 9);
	CHECK(config.probes[0].kind == PROBE_IMAGE && config.probes[0].address == 0x10200);
	CHECK(config.probes[0].code.size == 6 && config.probes[0].code.any[1] && !config.probes[0].code.any[2]);
	CHECK(!config.probes[0].after[0] && !strcmp(config.probes[1].after, "suspending"));
	CHECK(config.probes[2].kind == PROBE_ENTRY && config.probes[2].code.bytes[7] == 0x48);
	CHECK(!strcmp(config.probes[3].name, "start_kernel") && config.probes[3].from_high == 0);
	CHECK(config.probes[4].from_low == 0xffffffff8304d5b3 && config.probes[4].from_high == 0xffffffff8304d82d);
	CHECK(config.probes[5].address == 0xffffffff819bc42e);
	CHECK(config.probes[6].kind == PROBE_CALLS);
	CHECK(config.exact_disks && config_charges(&config));
	CHECK(config.n_modelled_disks == 2 && config.modelled_disks[0].kind == DISK_HEAD);
	CHECK(!strcmp(config.modelled_disks[0].drive, "rootfs") && config.modelled_disks[0].figures[DISK_TURN_NS] == 8333333);
	CHECK(config.modelled_disks[1].kind == DISK_FLASH && config.modelled_disks[1].figures[DISK_TURN_NS] == 0);
	CHECK(config.modelled_disks[1].keeps_writes && !config.modelled_disks[0].keeps_writes);
	CHECK(config.probes[7].kind == PROBE_CHARGE && config.probes[7].ns == 2500 && probe_repeats(&config.probes[7]));
	CHECK(config.probes[8].kind == PROBE_MARK && !strcmp(config.probes[8].after, "suspending") && !config.probes[8].from_high);
	CHECK(!strcmp(config.asleep_after, "suspending") && !strcmp(config.press.key, "wake"));
	CHECK(!strcmp(config.press.after, "suspending") && config.press.t_ns == 3000000000);
	CHECK(config.n_timed_marks == 1 && config.timed_marks[0].t_ns == 500000000);
	CHECK(!strcmp(config.timed_marks[0].name, "half_a_second"));
	CHECK(config.network_fd == 7 && !strcmp(config.network_name, "net0"));
	CHECK(!strcmp(config.user_name, "first_user_instruction") && !strcmp(config.user_after, "init_exec"));
	CHECK(config.guest_marks && !strcmp(config.stop, "ready") && !strcmp(config.pause, "kept"));
	CHECK(!strcmp(config.skip_at, "start_kernel") && config.skip_ns == 1500000);
	CHECK(config.slide_known && config.slide == 0x1f000000 && config.n_past == 2);
	CHECK(!strcmp(config.past[0].name, "before") && !strcmp(config.past[1].name, "earlier"));
	CHECK(!strcmp(config.functions, "/a path/with  blanks/kernel.txt"));
	CHECK(config.n_hooks == 2 && config.hooks[0].kind == HOOK_SWITCH && config.hooks[0].address == 0xffffffff81001000);
	CHECK(config.hooks[1].kind == HOOK_CONSOLE_INITCALLS);
	CHECK(config_offset(&config, "task_struct.comm", &offset) && offset == 2976);
	CHECK(!config_offset(&config, "task_struct.pid", &offset) && offset == 2976);
	CHECK(config.span_ns == 1000 && config.cut_lines);
	CHECK(config.n_objects == 2 && !strcmp(config.objects[0].name, "/bin/busy-box"));
	CHECK(!strcmp(config.objects[0].path, "/a path/of many words and one more than eight/b.txt"));
	CHECK(config.n_prices == 2 && config.prices[0].kind == TRAP_IN && config.prices[0].high == 0x43 && config.prices[0].ns == 900);
	CHECK(config.prices[1].changes == 0xfffffff5 && config.prices[1].state == TRAP_CACHES_OFF && config_prices(&config));
	CHECK(config.n_touch_prices == 1 && config.touch_prices[0].bits == 21 && config.touch_prices[0].high == 0x8000000);
	CHECK(config.count_traps && config.kvm_features == 0x100807b);
	CHECK(!strcmp(config.objects[1].name, "[firmware]") && !strcmp(config.objects[1].path, "f"));
	CHECK(config.n_programs == 2 && !strcmp(config.programs[0].name, "DxeCore") && !config.programs[0].loads);
	CHECK(config.programs[0].before == 16 && config.programs[0].size == 8192 && config.programs[0].entry == 0xcbc);
	CHECK(config.programs[1].loads && config.programs[1].code.size == 8 && config.programs[1].code.bytes[0] == 0x77);
	config_deinit(&config);
	CHECK(read_text("arch aarch64\n", message, &config) == 0 && config.span_ns == 20000 && !config.functions);
	CHECK(config.network_fd == -1);
	config_deinit(&config);
}

/* Words of traps that arm64 alone has. */
static void test_arm64_prices(void)
{
	struct config config;
	char message[256];

	CHECK(read_text("arch aarch64\nprice sysreg_write sysreg_write c080 c080 0 1 306\nprice hvc hvc 0 ffffffff 0 0 300\n"
			"touch fault_4K 0 ffffffffffffffff 12 1500\ntraps\n", message, &config) == 0);
	CHECK(config.n_prices == 2 && config.prices[0].kind == TRAP_SYSREG_WRITE && config.prices[0].state == TRAP_CACHES_OFF);
	CHECK(config.prices[1].kind == TRAP_HVC && config.prices[1].high == UINT32_MAX);
	CHECK(config.n_touch_prices == 1 && config.count_traps);
	config_deinit(&config);
}

/* The message must name the line. */
static void test_bad_lines(void)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "\n", "boot.conf:1: the file has no arch line" },
		{ "mark a 1 00112233\n", "boot.conf:1: expected 'arch' before anything else, got 'mark'" },
		{ "arch loongarch64\n", "boot.conf:1: expected: arch x86_64, arch aarch64, arch riscv64 or arch armv7 KERNEL_START" },
		{ "arch riscv64 80000000\n", "boot.conf:1: expected: arch" },
		{ "arch\n", "boot.conf:1: expected: arch" },
		{ "arch armv7\n", "boot.conf:1: expected: arch" },
		{ "arch aarch64 c0000000\n", "boot.conf:1: expected: arch" },
		{ "arch armv7 0xc0000000\n", "boot.conf:1: address '0xc0000000'" },
		{ "arch aarch64\nmarks a 1 00112233\n", "boot.conf:2: unknown word 'marks'" },
		{ "arch aarch64\nmark a 1\n", "boot.conf:2: expected: mark NAME ADDRESS CODE [from LOW HIGH | after MARK]" },
		{ "arch aarch64\nentry a 1 00112233 from 1 2\n", "boot.conf:2: expected: entry NAME ADDRESS CODE" },
		{ "arch aarch64\nmark a 1 00112233 from 2 2\n", "boot.conf:2: from 2 2: an empty range" },
		{ "arch aarch64\nimage a 1\n", "boot.conf:2: expected: image NAME ADDRESS CODE [after MARK]" },
		{ "arch aarch64\nimage a 1 00112233 after\n", "boot.conf:2: expected: image NAME ADDRESS CODE [after MARK]" },
		{ "arch aarch64\nmark a 1 00112233 after\n", "boot.conf:2: expected: mark NAME ADDRESS CODE [from LOW HIGH | after MARK]" },
		{ "arch aarch64\nentry a 1 00112233 after b\n", "boot.conf:2: expected: entry NAME ADDRESS CODE" },
		{ "arch aarch64\nasleep\n", "boot.conf:2: expected: asleep MARK" },
		{ "arch aarch64\nasleep a\n", "boot.conf:2: asleep a: there is no mark a, and no guestmarks line" },
		{ "arch aarch64\npress wake 1\n", "boot.conf:2: expected: press KEY NS MARK" },
		{ "arch aarch64\npress wake soon a\n", "boot.conf:2:" },
		{ "arch aarch64\npress wake 3600000000001 a\n", "boot.conf:2: press wake: 3600000000001 ns is more than an hour" },
		{ "arch aarch64\npress wake 1 a\n", "boot.conf:2: press wake behind a: there is no mark a, and no guestmarks line" },
		{ "arch aarch64\npress wake 1 a\npress b 1 a\n", "boot.conf:3: press b: a second line; one key is pressed" },
		{ "arch aarch64\nmark a 0x10 00112233\n", "boot.conf:2: address '0x10'" },
		{ "arch aarch64\nmark a 11112222333344445 00112233\n", "boot.conf:2: address '1111" },
		{ "arch aarch64\nmark a 1 001122\n", "boot.conf:2: code '001122' must be 4 to 16 bytes" },
		{ "arch aarch64\nmark a 1 0011223\n", "boot.conf:2: code '0011223' must be" },
		{ "arch aarch64\nmark a 1 001122334455667788990011223344556677\n", "boot.conf:2: code" },
		{ "arch aarch64\nmark a 1 0011?244\n", "boot.conf:2: code '0011?244': '?2' is neither" },
		{ "arch aarch64\nmark \001 1 00112233\n", "boot.conf:2: name" },
		{ "arch aarch64\nuser u\n", "boot.conf:2: expected: user NAME AFTER" },
		{ "arch aarch64\nuser u nothing\n", "boot.conf:2: user u nothing: there is no mark nothing" },
		{ "arch aarch64\nmark a 1 00112233\nuser u a\nuser v a\n", "boot.conf:4: a second user line" },
		{ "arch aarch64\nguestmarks yes\n", "boot.conf:2: guestmarks takes no words" },
		{ "arch aarch64\nexactdisks all\n", "boot.conf:2: exactdisks takes no words" },
		{ "arch aarch64\ndisk rootfs tape\n", "boot.conf:2: expected: disk DRIVE flash|head" },
		{ "arch aarch64\ndisk rootfs head\ndisk rootfs flash\n", "boot.conf:3: a second disk line for rootfs" },
		{ "arch aarch64\nfigure rootfs iops 1\n", "boot.conf:2: figure rootfs: there is no disk line of this name before it" },
		{ "arch aarch64\ndisk d flash\nfigure d rpm 1\n", "boot.conf:3: figure d: a model has no 'rpm'" },
		{ "arch aarch64\ndisk d flash\nfigure d iops -1\n", "boot.conf:3: '-1' must be a decimal number" },
		{ "arch aarch64\ndisk d flash\nfigure d iops 1099511627777\n",
		  "boot.conf:3: figure d iops: 1099511627777 is more than 2**40" },
		{ "arch aarch64\nkeepwrites d\n", "boot.conf:2: keepwrites d: there is no disk line of this name before it" },
		{ "arch aarch64\ndisk d flash\nfigure d iops\n", "boot.conf:3: expected: figure DRIVE FIGURE VALUE" },
		{ "arch aarch64\ncharge a 1 00112233\n", "boot.conf:2: expected: charge NAME ADDRESS CODE NS" },
		{ "arch aarch64\ncharge a 1 00112233 0\n", "boot.conf:2: charge a: 0 ns is not 1 to 3600000000000" },
		{ "arch aarch64\ncharge a 1 00112233 -5\n", "boot.conf:2: '-5' must be a decimal number" },
		{ "arch aarch64\ncharge a 1 00112233 5\nstop a\n", "boot.conf:3: stop a: there is no mark a" },
		{ "arch aarch64\nskip a\n", "boot.conf:2: expected: skip NAME NS" },
		{ "arch aarch64\nmark a 1 00112233\nskip a 0\n", "boot.conf:3: skip a: 0 ns is not 1 to 3600000000000" },
		{ "arch aarch64\nmark a 1 00112233\nskip a 1\nskip a 2\n", "boot.conf:4: a second skip line" },
		{ "arch aarch64\nguestmarks\nskip a 5\n", "boot.conf:3: skip a: there is no mark line of this name" },
		{ "arch aarch64\ncharge a 1 00112233 5\ncharge a 2 00112233 5\n", "boot.conf:3: charge a: a second line" },
		{ "arch riscv64\nprice a in 0 1 0 0 5\n", "boot.conf:2: price: the traps of x86_64 and aarch64 alone are known" },
		{ "arch riscv64\ntouch a 0 1 12 5\n", "boot.conf:2: touch: for x86_64 and aarch64 alone" },
		{ "arch x86_64\nprice a in 0 1 0 5\n", "boot.conf:2: expected: price CLASS KIND LOW HIGH CHANGES STATE NS" },
		{ "arch x86_64\nprice a pause 0 1 0 0 5\n", "boot.conf:2: price a: unknown kind of trap 'pause'" },
		{ "arch x86_64\nprice a in 1 0 0 0 5\n", "boot.conf:2: price a: 1 to 0: an empty range" },
		{ "arch x86_64\nprice a in 0 1 100000000 0 5\n", "boot.conf:2: price a: no such bits: 100000000 0" },
		{ "arch x86_64\nprice a in 0 1 0 2 5\n", "boot.conf:2: price a: no such bits: 0 2" },
		{ "arch x86_64\nprice a in 0 1 0 0 -5\n", "boot.conf:2: '-5' must be a decimal number" },
		{ "arch x86_64\nprice a in 0 1 0 0 3600000000001\n", "boot.conf:2: price a: 3600000000001 ns is not 0 to" },
		{ "arch x86_64\ntouch a 0 0 12 5\n", "boot.conf:2: touch a: 0 to 0: an empty range" },
		{ "arch x86_64\ntouch a 0 1 13 5\n", "boot.conf:2: touch a: pieces of 2**13 bytes: 12 or 21" },
		{ "arch x86_64\ntouch a 0 1 12\n", "boot.conf:2: expected: touch CLASS LOW HIGH BITS NS" },
		{ "arch aarch64\nkvm 1\n", "boot.conf:2: kvm: only a guest on x86_64" },
		{ "arch x86_64\nkvm 0\n", "boot.conf:2: kvm 0: features are 1 to ffffffff" },
		{ "arch x86_64\nkvm\n", "boot.conf:2: expected: kvm FEATURES" },
		{ "arch riscv64\ntraps\n", "boot.conf:2: traps: those of x86_64 and aarch64 alone are known" },
		{ "arch x86_64\ntraps all\n", "boot.conf:2: traps takes no words" },
		{ "arch aarch64\nat 5\n", "boot.conf:2: expected: at NS NAME" },
		{ "arch aarch64\nat 9223372036854775808 a\n", "boot.conf:2: at 9223372036854775808: too late for a clock of 63 bits" },
		{ "arch aarch64\nnetwork 3\n", "boot.conf:2: expected: network FD NETDEV" },
		{ "arch aarch64\nnetwork -1 net0\n", "boot.conf:2: '-1' must be a decimal number" },
		{ "arch aarch64\nnetwork 99999999 net0\n", "boot.conf:2: network 99999999: not a file descriptor" },
		{ "arch aarch64\nnetwork 3 net0\nnetwork 4 net0\n", "boot.conf:3: a second network line" },
		{ "arch aarch64\nstop\n", "boot.conf:2: expected: stop NAME" },
		{ "arch aarch64\nslide\n", "boot.conf:2: expected: slide HEX" },
		{ "arch aarch64\nslide 0\nslide 0\n", "boot.conf:3: a second slide line" },
		{ "arch aarch64\npast\n", "boot.conf:2: expected: past NAME" },
		{ "arch aarch64\npause\n", "boot.conf:2: expected: pause NAME" },
		{ "arch aarch64\nguestmarks\npause a\npause b\n", "boot.conf:4: a second pause line" },
		{ "arch aarch64\npause a\n", "boot.conf:2: pause a: there is no mark a, and no guestmarks line" },
		{ "arch aarch64\nstop a\n", "boot.conf:2: stop a: there is no mark a" },
		{ "arch aarch64\ncalls a 1 00112233\nstop a\n", "boot.conf:3: stop a: there is no mark a" },
		{ "arch aarch64\nguestmarks\nstop a\nstop b\n", "boot.conf:4: a second stop line" },
		{ "arch aarch64\nfunctions\n", "boot.conf:2: expected: functions PATH" },
		{ "arch aarch64\nfunctions a\nfunctions b\n", "boot.conf:3: a second functions line" },
		{ "arch aarch64\nhook switch\n", "boot.conf:2: expected: hook KIND ADDRESS" },
		{ "arch armv7 bf000000\nhook relocate 10\n",
		  "boot.conf:2: expected: hook KIND ADDRESS, or hook relocate ADDRESS FROM" },
		{ "arch aarch64\nhook switch 10 20\n", "boot.conf:2: expected: hook KIND ADDRESS, or hook relocate" },
		{ "arch aarch64\nhook nothing 10\n", "boot.conf:2: unknown hook 'nothing'" },
		{ "arch aarch64\nhook switch 0x10\n", "boot.conf:2: address '0x10'" },
		{ "arch aarch64\noffset a.b\n", "boot.conf:2: expected: offset NAME VALUE" },
		{ "arch aarch64\noffset a.b -1\n", "boot.conf:2: '-1' must be a decimal number" },
		{ "arch aarch64\noffset a.b 99999999999999999999\n", "boot.conf:2: '99999999999999999999' must be" },
		{ "arch aarch64\nspan 1us\n", "boot.conf:2: '1us' must be a decimal number" },
		{ "arch aarch64\nobject a\n", "boot.conf:2: expected: object NAME PATH" },
		{ "arch x86_64\nloader a 0 16 0\n", "boot.conf:2: expected: loader NAME BEFORE SIZE ADDRESS CODE" },
		{ "arch x86_64\nprogram a 16 16 0 0011223344556677\n", "boot.conf:2: program a: its entry is behind its end" },
		{ "arch x86_64\nprogram a 0 16 0 00zz223344556677\n",
		  "boot.conf:2: code '00zz223344556677': 'zz' is neither two hexadecimal digits nor ??" },
		{ "arch aarch64\ncutlines\n", "boot.conf:2: cutlines: there is no uart line" },
		{ "arch x86_64\nuart 3f8\ncutlines yes\n", "boot.conf:3: cutlines takes no words" },
		{ "arch aarch64\nmark 1 2 3 4 5 6 7 8 9\n", "boot.conf:2: more than 8 words" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct config config;
		char message[256];
		int r = read_text(cases[i].text, message, &config);

		if (r != -EINVAL || strncmp(message, cases[i].message, strlen(cases[i].message)))
			fprintf(stderr, "%s -> %d %s\n", cases[i].text, r, message);
		CHECK(r == -EINVAL && !strncmp(message, cases[i].message, strlen(cases[i].message)));
	}
}

static void test_long_lines(void)
{
	char text[16384] = "arch aarch64\nmark ", message[256], small[8];
	struct config config;
	FILE *file;

	memset(text + strlen(text), 'a', 12000);
	CHECK(read_text(text, message, &config) == -EINVAL);
	CHECK(!strncmp(message, "boot.conf:2: line longer than", 29));

	file = fmemopen(text, strlen(text), "r");
	CHECK(file && config_read(file, "boot.conf", small, sizeof small, &config) == -EINVAL);
	CHECK(!strcmp(small, "boot.co"));
	fclose(file);

	CHECK(name_valid(text + 18, TRACE_NAME_MAX) && !name_valid(text + 18, TRACE_NAME_MAX + 1));
	CHECK(!name_valid("", 0) && !name_valid("a b", 3) && !name_valid("\177", 1));
}

static void test_places(void)
{
	const uint64_t link = 0xffffffff8304ce41, slide = 0xe400000, none = 0;
	struct probe probe = { .kind = PROBE_MARK, .address = link };

	address_slides(ARCH_X86_64);
	/* Any 2 MiB step in the kernel's half may be the slide; afterwards there is one place only. */
	CHECK(probe_place(&probe, link + slide, NULL) == PLACE_IF_CODE);
	CHECK(probe_place(&probe, link, NULL) == PLACE_IF_CODE);
	CHECK(probe_place(&probe, link + slide + 1, NULL) == PLACE_NO);
	CHECK(probe_place(&probe, link + 0x100000, NULL) == PLACE_NO);
	CHECK(probe_place(&probe, 0x1804ce41, NULL) == PLACE_NO);
	CHECK(probe_place(&probe, link + slide, &slide) == PLACE_YES);
	CHECK(probe_place(&probe, link, &slide) == PLACE_NO);
	CHECK(probe_place(&probe, link, &none) == PLACE_YES);
	/* arm64 slides by tens of TiB. */
	probe.address = 0xffff8000093809f4;
	CHECK(probe_place(&probe, 0xffff8000093809f4 + 0x384a22600000, NULL) == PLACE_IF_CODE);
	/* Its EFI stub puts it at any 64 KiB. */
	CHECK(probe_place(&probe, 0xffff8000093809f4 + 0x384a22650000, NULL) == PLACE_NO);
	address_slides(ARCH_AARCH64);
	CHECK(probe_place(&probe, 0xffff8000093809f4 + 0x384a22650000, NULL) == PLACE_IF_CODE);
	CHECK(probe_place(&probe, 0xffff8000093809f4 + 0x384a22651000, NULL) == PLACE_NO);
	address_slides(ARCH_X86_64);

	probe = (struct probe){ .kind = PROBE_ENTRY, .address = 0xffffffff81000c43 };
	CHECK(probe_place(&probe, 0x1000c43, NULL) == PLACE_IF_CODE);
	CHECK(probe_place(&probe, 0x3a200c43, &slide) == PLACE_IF_CODE);
	CHECK(probe_place(&probe, 0xffffffff81000c43, NULL) == PLACE_NO);

	probe = (struct probe){ .kind = PROBE_IMAGE, .address = 0x10200 };
	CHECK(probe_place(&probe, 0x10200, NULL) == PLACE_IF_CODE);
	CHECK(probe_place(&probe, 0x210200, NULL) == PLACE_NO);
}

/* Where the kernel's half begins on 32-bit arm, its own configuration says; elsewhere it is the upper half. */
static void test_arm(void)
{
	struct config config;
	struct probe probe;
	char message[256];

	CHECK(read_text("arch armv7 bf000000\nmoved kernel_load 4a02f1c0 00112233\n", message, &config) == 0);
	CHECK(config.arch == ARCH_ARMV7 && !strcmp(arch_name(config.arch), "armv7"));
	CHECK(config.n_probes == 1 && config.probes[0].kind == PROBE_MOVED);
	CHECK(address_is_high(0xbf000000) && !address_is_high(0xbeffffff));
	probe = config.probes[0];
	config_deinit(&config);
	/* A bootloader moves by whole pages, within the memory below the kernel's part. */
	CHECK(probe_place(&probe, 0x7bf5e1c0, NULL) == PLACE_IF_CODE);
	CHECK(probe_place(&probe, 0x7bf5e1c2, NULL) == PLACE_NO);
	CHECK(probe_place(&probe, 0xc002f1c0, NULL) == PLACE_NO);
	probe = (struct probe){ .kind = PROBE_MARK, .address = 0xc0100a48 };
	CHECK(probe_place(&probe, 0xc0100a48, NULL) == PLACE_IF_CODE);
	CHECK(probe_place(&probe, 0x40100a48, NULL) == PLACE_NO);
	probe.kind = PROBE_ENTRY;
	CHECK(probe_place(&probe, 0x40100a48, NULL) == PLACE_IF_CODE);

	CHECK(read_text("arch x86_64\n", message, &config) == 0);
	CHECK(!address_is_high(0xc0100a48) && address_is_high(UINT64_C(1) << 63));
	config_deinit(&config);
}

static void test_code(void)
{
	const struct code code = { .bytes = { 0xeb, 0, 'H', 'd' }, .any = { false, true }, .size = 4 };
	const uint8_t same[] = { 0xeb, 0x6a, 'H', 'd', 'r' }, other[] = { 0xeb, 0x6a, 'H', 'e', 'r' };

	CHECK(code_matches(&code, same, sizeof same));
	CHECK(!code_matches(&code, other, sizeof other));
	CHECK(!code_matches(&code, same, 3));
}

int main(void)
{
	test_whole();
	test_arm64_prices();
	test_bad_lines();
	test_long_lines();
	test_places();
	test_arm();
	test_code();
	puts("test_config: ok");
	return 0;
}
