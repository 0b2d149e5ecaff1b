"""Kernel logs in every dress: the real ones in data/importers, and the same log with each documented prefix."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.importers.kernel.dmesg import PRINTK, KernelLog, LoggedInitcall, parse
from bootlab.importers.kernel.line import KernelLine
from bootlab.importers.kernel.log import recording_of

LEVELS = ("emerg", "alert", "crit", "err", "warn", "notice", "info", "debug")
DATA = Path(__file__).parents[2] / "data" / "importers"


def real(name: str) -> KernelLog:
    return parse((DATA / name).read_bytes().decode())


def texts(log: KernelLog) -> list[str]:
    return [line.text for line in log.lines]


def test_raw_dmesg_has_levels_and_stamps() -> None:
    log = real("dmesg-raw.log")
    assert log.stamped and not log.wrapped and log.later_boots == 0
    assert all(line.t_ns is not None and line.level is not None and line.caller is None for line in log.lines)
    assert log.lines[0].level == 5
    assert log.lines[0].text.startswith("Linux version 6.1.0-50-cloud-amd64 ")
    # <6>[    0.001008] printk: console [ttyS0] enabled      its kind: a text with brackets of its own
    assert "<" not in {text[:1] for text in texts(log)}


def test_raw_dmesg_without_stamps_keeps_levels() -> None:
    log = real("dmesg-raw-no-time.log")
    assert not log.stamped and not log.wrapped
    assert {line.level for line in log.lines} <= set(range(8))
    assert log.lines[0].text.startswith("Linux version ")


def test_serial_console_without_stamps_finds_the_banner_behind_the_firmware() -> None:
    log = real("serial-no-time.log")
    assert not log.stamped and not log.wrapped
    assert texts(log)[2] == "Probing EDD (edd=off to disable)... o"
    assert texts(log)[3].startswith("Linux version 6.1.0-50")


def test_serial_console_keeps_what_firmware_and_programs_wrote_without_a_time() -> None:
    log = real("serial-initcall_debug.log")
    assert not log.wrapped
    assert [line.text for line in log.lines if line.t_ns is None] == [
        "SeaBIOS (version 1.16.3-debian-1.16.3-2~bpo12+1)",
        "Booting from ROM...",
        "Probing EDD (edd=off to disable)... o",
        "BOOT-OK",
    ]
    assert not any("\r" in text or "\x1b" in text for text in texts(log))


def test_wrapped_ring_buffer_is_flagged() -> None:
    log = real("dmesg-wrapped.log")
    assert log.wrapped and log.stamped
    assert log.lines[0].t_ns == 573_631_000
    # The first return in it belongs to a call that was lost.
    lost = [call for call in log.initcalls if call.start_ns is None]
    assert len(lost) == 1
    assert lost[0].end_ns is not None and lost[0].duration_ns is None and lost[0].pid is None


def test_initcalls_of_a_real_boot() -> None:
    log = real("serial-initcall_debug.log")
    assert len(log.initcalls) == 575
    assert all(call.start_ns is not None and call.end_ns is not None for call in log.initcalls)
    assert log.initcalls[0] == LoggedInitcall("con_init", None, 0, 74_764_000, 74_805_000, 0, 0, True)
    # PCI quirks say "calling" too.
    assert not any(call.function.startswith("quirk_") for call in log.initcalls)
    by_name = {call.function: call for call in log.initcalls}
    assert by_name["xenbus_init"].result == -19


def test_figures_from_before_the_clocksource_switch_are_jiffies() -> None:
    calls = real("serial-initcall_debug.log").initcalls
    early = [call for call in calls if call.reported_in_jiffies]
    late = [call for call in calls if not call.reported_in_jiffies]
    assert early and late and calls == tuple(early + late)
    assert {call.reported_us % 4000 for call in early if call.reported_us is not None} == {0}
    netlink = next(call for call in calls if call.function == "netlink_proto_init")
    assert (netlink.duration_ns, netlink.reported_us) == (158_000, 4000)
    # Once it has settled, both clocks agree but for the printing of one line.
    settled = [call for call in late if call.start_ns is not None and call.start_ns > 540_000_000]
    assert len(settled) > 200
    for call in settled:
        assert call.duration_ns is not None and call.reported_us is not None
        assert abs(call.duration_ns // 1000 - call.reported_us) <= 70


def test_stamps_can_stand_still_after_the_switch() -> None:
    # Why reported_us is kept: printk's clock waited at 0.532036 s for the new clocksource.
    pnp = next(call for call in real("serial-initcall_debug.log").initcalls if call.function == "pnpacpi_init")
    assert (pnp.duration_ns, pnp.reported_us, pnp.reported_in_jiffies) == (0, 915, False)


def caller(row: str) -> str:
    # printk.c, print_caller(): "[%*s]", six wide.
    level, stamp, rest = row[:3], row[3:17], row[17:]
    return f"{level}{stamp}[    T1]{rest}"


WRAPPINGS: dict[str, tuple[Callable[[str], str], bool, bool]] = {
    # name: (raw row -> row, stamps are left, levels are left)
    "plain dmesg": (lambda row: row[3:], True, False),
    "serial": (lambda row: row[3:] + "\r", True, False),
    "caller": (caller, True, True),
    "caller without level": (lambda row: caller(row)[3:], True, False),
    "syslog": (lambda row: f"Nov  3 09:05:00 host kernel: {row[3:]}", True, False),
    "syslog without stamps": (lambda row: f"Nov 20 10:00:00 host kernel: {row[18:]}", False, False),
    "journal, precise": (lambda row: f"2026-11-20T10:00:00.123456+00:00 host kernel: {row[18:]}", False, False),
    "journal, monotonic": (lambda row: f"{row[3:17]} host kernel: {row[18:]}", True, False),
    "dmesg -x": (lambda row: f"kern  :{LEVELS[int(row[1])]:<6}: {row[3:]}", True, True),
    "quoted in a mail": (lambda row: f"> > {row[3:]}", True, False),
    "facility in the priority": (lambda row: f"<{int(row[1]) + 24}>{row[3:]}", True, True),
}


@pytest.mark.parametrize("name", WRAPPINGS)
def test_the_same_log_in_another_dress_reads_the_same(name: str) -> None:
    dress, stamps, levels = WRAPPINGS[name]
    rows = (DATA / "dmesg-raw.log").read_text().splitlines()
    plain, log = real("dmesg-raw.log"), parse("\n".join(dress(row) for row in rows))
    # A journal writes nothing after "kernel: " for an empty message; dmesg -r shows its prefix.
    assert [text.strip() for text in texts(log)] == [text.strip() for text in texts(plain)]
    assert not log.wrapped and log.stamped is stamps
    if stamps:
        assert [line.t_ns for line in log.lines] == [line.t_ns for line in plain.lines]
    if levels:
        assert [line.level for line in log.lines] == [line.level for line in plain.lines]
    assert {line.caller for line in log.lines} == ({"T1"} if "caller" in name else {None})


@pytest.mark.parametrize(
    ("row", "line"),
    [
        ("[    0.051384][    T1] calling  x+0x0/0x2 @ 1", KernelLine(51_384_000, None, "T1", "calling  x+0x0/0x2 @ 1")),
        ("[    1.000001][    C0] hrtimer", KernelLine(1_000_001_000, None, "C0", "hrtimer")),
        ("[   12.000001][T12345] x", KernelLine(12_000_001_000, None, "T12345", "x")),
        ("<6>[    0.123456] x", KernelLine(123_456_000, 6, None, "x")),
        ("<6>x", KernelLine(None, 6, None, "x")),
        ("[123456.000001] x", KernelLine(123_456_000_001_000, None, None, "x")),
        ("[    0.000000]   DMA  [mem 0x1000]", KernelLine(0, None, None, "  DMA  [mem 0x1000]")),
        ("[0.123456 0.000001] x", KernelLine(None, None, None, "[0.123456 0.000001] x")),
        ("[010601 0.123456] x", KernelLine(None, None, None, "[010601 0.123456] x")),
        ("[  OK  ] Started a unit", KernelLine(None, None, None, "[  OK  ] Started a unit")),
    ],
)
def test_prefixes_one_by_one(row: str, line: KernelLine) -> None:
    assert parse(row).lines == (line,)


def test_a_message_of_several_lines() -> None:
    # util-linux dmesg indents the further lines under the first one.
    log = parse("[    1.000000] first\n               second\n[    2.000000] other\n")
    assert log.lines == (
        KernelLine(1_000_000_000, None, None, "first\nsecond"),
        KernelLine(2_000_000_000, None, None, "other"),
    )


def test_a_program_that_wrote_no_line_end() -> None:
    log = parse("BOOT-OK[    1.287622] reboot: Restarting system\n")
    assert texts(log) == ["BOOT-OK", "reboot: Restarting system"]
    assert log.lines[1].t_ns == 1_287_622_000


def test_only_the_first_boot_counts() -> None:
    log = parse("[    0.000000] Linux version 6.1\n[    5.0000\n[    0.000000] Linux version 6.1\n[    1.000000] x\n")
    assert log.later_boots == 1
    assert len(log.lines) == 2


def test_static_initcalls_of_one_name_and_a_module() -> None:
    log = parse(
        "[    1.000000] calling  init+0x0/0x8 @ 1\n[    1.000100] initcall init+0x0/0x8 returned 0 after 90 usecs\n"
        "[    2.000000] calling  init+0x0/0x8 @ 1\n[    2.000300] calling  init+0x0/0x8 [virtio_blk] @ 77\n"
        "[    2.000400] initcall init+0x0/0x8 returned 0 after 390 usecs\n"
        "[    2.000900] initcall init+0x0/0x8 [virtio_blk] returned 0 after 590 usecs\n"
        "[    3.000000] calling  i2c-3+ @ 2475, parent: 0000:00:02.0\n[    3.100000] calling  0xffffffff81000000 @ 1\n"
    )
    assert [(call.function, call.module, call.pid, call.duration_ns) for call in log.initcalls] == [
        ("init", None, 1, 100_000),
        ("init", None, 1, 400_000),
        ("init", "virtio_blk", 77, 600_000),
        ("0xffffffff81000000", None, 1, None),
    ]


def test_timeline_has_messages_and_initcalls() -> None:
    timeline = real("serial-initcall_debug.log").timeline()
    assert timeline.clock == PRINTK
    assert len(timeline.spans) == 575
    assert [event.t_ns for event in timeline.events] == sorted(event.t_ns for event in timeline.events)
    run_init = timeline.first("Run /init as init process")
    assert run_init is not None and run_init.source == "kernel"


def test_nothing_is_an_empty_log() -> None:
    assert parse("") == KernelLog((), (), wrapped=True, later_boots=0)


def test_initcalls_that_all_return_after_init_was_run() -> None:
    # Found by `make fuzz`: the phases then have no last return to end the initcalls with.
    rows = (
        "[    0.000000] Linux version 6.1\n[    0.100000] calling  a+0x0/0x1 @ 1\n"
        "[    0.200000] Run /init as init process\n[    0.300000] initcall a+0x0/0x1 returned 0 after 9 usecs\n"
    )
    phases = recording_of(parse(rows), "dmesg").phases
    assert [one.name for one in phases][-1] == "user space, as far as logged"
    assert all(one.end_ns >= one.start_ns for one in phases)


def test_the_end_of_an_earlier_boot_is_none_of_the_boot_behind_it() -> None:
    # A kern.log goes on from boot to boot.
    boot = ("[    0.000000] Initializing cgroup subsys cpu", "[    0.000000] Linux version 3.13.0-test",
            "[   12.250000] Freeing unused kernel memory: 688K", "[   40.000000] eth0: link up")  # fmt: skip
    log = parse("\n".join(["[ 9000.125000] eth0: link down", "[ 9001.000000] reboot: Restarting", *boot, *boot, *boot]))
    assert [(line.t_ns, line.text) for line in log.lines] == [
        (line.t_ns, line.text) for line in parse("\n".join(boot)).lines
    ]
    assert (log.earlier_rows, log.later_rows, log.later_boots) == (2, 8, 2)
    assert log.earlier[0].text == "eth0: link down" and log.later[0].text == "Initializing cgroup subsys cpu"


def test_what_loaders_say_between_two_boots_stays_and_processors_may_disagree() -> None:
    text = "[   90.000000] reboot: Restarting\nU-Boot 2024.01\n[    0.800000] early\n[    0.000000] Linux version 6.1\n"
    log = parse(text)
    assert [line.text for line in log.lines] == ["U-Boot 2024.01", "early", "Linux version 6.1"]


def test_what_a_program_prints_of_the_version_is_no_second_boot() -> None:
    text = "[    0.000000] Linux version 6.1\n[    1.000000] x\nLinux version 6.1 (gcc)\n[    2.000000] y\n"
    log = parse(text)
    assert log.later_boots == 0 and [line.t_ns for line in log.lines] == [0, 10**9, None, 2 * 10**9]


def test_a_later_stamp_ahead_of_the_first_banner_says_nothing_of_the_second_boot() -> None:
    rows = ["[    9.000000] the end of another boot", "[    0.000000] Linux version 6.1", "[    0.100000] x"]
    log = parse("\n".join([*rows, "[    0.000000] Linux version 6.1", "[    0.100000] y", ""]))
    assert (log.later_boots, log.later_rows, log.earlier_rows) == (1, 2, 1)
    assert [line.text for line in log.lines] == ["Linux version 6.1", "x"]


def test_a_banner_without_a_stamp_begins_a_boot_where_stamps_go_back() -> None:
    # Of two pieces of a ram_console, one behind the other.
    log = parse("[    0.000000] Linux version 6.1\n[    4.000000] x\nLinux version 6.1\n[    3.500000] y\n")
    assert log.later_boots == 1 and [line.t_ns for line in log.lines] == [0, 4 * 10**9]
