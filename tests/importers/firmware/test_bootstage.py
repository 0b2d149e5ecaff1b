"""U-Boot's bootstage: Debian's U-Boot under QEMU, its report and its stash of the same boot, on 32 and 64 bits."""

import struct
from collections.abc import Callable
from dataclasses import replace

import pytest

from bootlab.errors import InputError
from bootlab.importers.firmware.bootstage import MAGIC, AccumulatedTime, Stage, is_stash, parse_report, parse_stash
from bootlab.importers.reading.source import FormatError
from tests.importers.samples import DATA, recording_of, sample

STASHES = ("uboot/qemu-x86.stash", "uboot/qemu-x86_64.stash")


def test_a_real_report() -> None:
    report = parse_report((DATA / "uboot" / "qemu-x86-console.log").read_text())
    assert report.stages == (
        Stage("reset", 0), Stage("board_init_f", 55_060_000), Stage("board_init_r", 126_852_000),
        Stage("eth_common_init", 340_010_000), Stage("main_loop", 350_913_000), Stage("cli_loop", 355_395_000),
    )  # fmt: skip
    assert report.accumulated == (AccumulatedTime("dm_r", 9_217_000), AccumulatedTime("dm_f", 30_213_000))
    # U-Boot's own column "Elapsed" is what led to each stage.
    assert [one.duration_ns // 1000 for one in report.timeline().spans] == [55_060, 71_792, 213_158, 10_903, 4_482]


def test_a_boards_boot_agrees_with_the_exact_trace_of_it() -> None:
    # Marks that bootlab's plugin counted in the same boot, in ns from power-on; U-Boot's counter starts with the CPU.
    exact_ns = {"uboot_entry": 37_635_030, "kernel_load": 104_510_228, "kernel_jump": 161_839_774}
    one = sample("uboot/orangepi-pc-console.log", format_name="bootstage")
    at_ns = {event.name: event.t_ns for event in one.timeline.events}
    assert list(at_ns) == [
        "reset", "board_init_f", "board_init_r", "main_loop", "bootm_start", "boot_jump_linux", "start_kernel",
    ]  # fmt: skip
    # bootstage counts in us; board_init_f follows some thousand instructions after U-Boot's first.
    assert 0 <= at_ns["boot_jump_linux"] - exact_ns["kernel_jump"] <= 1_000
    assert 0 <= at_ns["board_init_f"] - exact_ns["uboot_entry"] <= 50_000
    assert at_ns["main_loop"] < exact_ns["kernel_load"] < at_ns["bootm_start"]
    assert {length.name: length.took_ns for length in one.lengths} == {"dm_f": 6_937_000, "dm_r": 25_946_000}
    # As a kernel log, which it is without being asked, it says what else there is.
    as_log = sample("uboot/orangepi-pc-console.log")
    assert as_log.format == "dmesg" and any("--format bootstage" in note for note in as_log.notes)


@pytest.mark.parametrize("name", STASHES)
def test_the_stash_says_what_the_report_says(name: str) -> None:
    console = (DATA / name.replace(".stash", "-console.log")).read_text()
    assert parse_stash((DATA / name).read_bytes()) == replace(parse_report(console), console=())


@pytest.mark.parametrize("name", STASHES)
def test_a_stash_of_the_other_byte_order(name: str) -> None:
    data = (DATA / name).read_bytes()
    size = struct.unpack_from("<I", data, 8)[0]
    width = 20 if "x86.s" in name else 32
    layout = {20: "IIIiI", 32: "QI4xQiI"}[width]
    turned = struct.pack(">5I", *struct.unpack_from("<5I", data))
    for index in range(8):
        turned += struct.pack(f">{layout}", *struct.unpack_from(f"<{layout}", data, 20 + index * width))
    assert parse_stash(turned + data[len(turned) : size]) == parse_stash(data)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data[:100], "says it has"),
        (lambda data: b"\x07" + data[1:], "version 7"),
        (lambda data: data[:4] + b"\xff\xff\xff\xff" + data[8:], "4294967295 records do not fit"),
        (lambda data: data[:8] + b"\xff\xff\xff\xff" + data[12:], "says it has 4294967295 bytes"),
        (lambda data: data[:12] + b"nope" + data[16:], "no bootstage stash"),
    ],
)
def test_a_stash_that_lies_is_refused(change: Callable[[bytes], bytes], said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_stash(change((DATA / STASHES[0]).read_bytes()))


def test_a_report_behind_host_stamps_and_a_kernel() -> None:
    text = "".join(
        f"[{n}.000000 0.000100] {row}\r\n"
        for n, row in enumerate(
            [
                "U-Boot 2025.10", "Timer summary in microseconds (3 records):", "       Mark    Elapsed  Stage",
                "          0          0  reset", "  1,000,000  1,000,000  board_init_f", "  1,000,900        900",
                "", "Starting kernel ...",
            ]
        )
    )  # fmt: skip
    assert parse_report(text).stages == (
        Stage("reset", 0),
        Stage("board_init_f", 1_000_000_000),
        Stage("stage 2", 1_000_900_000),
    )


def test_beyond_a_thousand_seconds_u_boot_groups_from_the_left() -> None:
    # print_grouped_ull(1234567890, 9) prints 123,456,789,0.
    text = "Timer summary in microseconds:\n   Mark    Elapsed  Stage\n          0          0  reset\n"
    assert parse_report(f"{text}123,456,789,0  1  late\n").stages[-1] == Stage("late", 1_234_567_890_000)


def test_the_last_report_counts_and_lost_stages_are_told() -> None:
    table = "Timer summary in microseconds (2 records):\n Mark Elapsed Stage\n          0          0  reset\n"
    report = parse_report(
        f"{table}{table}         10         10  spl\nOverflowed internal boot id table by 4 entries\n"
        "Please increase CONFIG_(SPL_TPL_)BOOTSTAGE_RECORD_COUNT\n\nAccumulated time:\n      5,000  of_live\n"
    )
    assert (len(report.stages), report.lost, report.earlier_reports) == (2, 4, 1)
    assert report.accumulated == (AccumulatedTime("of_live", 5_000_000),)


def test_as_a_recording() -> None:
    recording = sample("uboot/qemu-x86-console.log")
    assert [(one.name, one.duration_ns) for one in recording.phases] == [("U-Boot", 355_395_000)]
    assert {one.name: one.took_ns for one in recording.lengths} == {"dm_r": 9_217_000, "dm_f": 30_213_000}
    # A board's whole console is read as a kernel log unless asked otherwise.
    whole = (DATA / "uboot" / "qemu-x86-console.log").read_bytes() + (DATA / "dmesg-raw.log").read_bytes()
    assert recording_of(whole).format == "dmesg"
    assert recording_of(whole, format_name="bootstage").phases == recording.phases


def test_a_console_without_a_report() -> None:
    with pytest.raises(FormatError, match='x: no "Timer summary in microseconds"'):
        recording_of(b"U-Boot 2025.10\n=> \n", format_name="bootstage")
    with pytest.raises(FormatError, match="has no stages"):
        recording_of(b"Timer summary in microseconds (3 records):\n", format_name="bootstage")
    assert not is_stash(MAGIC.to_bytes(4, "little"))


def test_a_row_without_end_is_cut() -> None:
    # Found by `make fuzz`: a host's stamp was looked for at every place of it.
    text = (DATA / "uboot" / "qemu-x86-console.log").read_text()
    cut, whole = parse_report("[1.5 x" * 20_000 + "\n" + text), parse_report(text)
    assert cut.stages == whole.stages and cut.console[1:] == whole.console


def test_a_report_on_a_console_on_which_a_kernel_writes_long_after_is_not_all_of_it() -> None:
    report = (
        "Timer summary in microseconds (1 records):\n       Mark    Elapsed  Stage\n          0          0  reset\n"
    )
    rest = "".join(f"a loader's line number {number}, which tells of nothing\n" for number in range(2000))
    assert recording_of((report + rest).encode()).format == "bootstage"
    console = f"{report}{rest}[    0.000000] Linux version 6.1.0\n[    1.000000] Run /init as init process\n"
    assert recording_of(console.encode()).format == "dmesg"
