"""Recordings of `bootlab watch` as recordings of a boot: a real one, and what may be wrong with one."""

import json
import lzma

import pytest

from bootlab.importers.merging import merge
from bootlab.importers.reading.source import FormatError
from bootlab.importers.serial.watch_file import (
    Recorded,
    RecordedEnd,
    RecordedLoss,
    RecordedPort,
    RecordedRead,
    header_line,
    parse_recorded,
    recorded_line,
)
from bootlab.timeline.recording import Recording
from tests.importers.samples import DATA, recording_of, sample

BOOT = "watch/boot.rec.xz"
LINE = RecordedPort("/dev/ttyUSB0", "tty", 115200, 86_806)
PTY = RecordedPort("/dev/pts/3", "pty", None, 0)
START_NS = 5_000_000_000


def recorded(*happened: Recorded, ports: tuple[RecordedPort, ...] = (PTY,)) -> Recording:
    head = header_line(ports, START_NS, "2026-01-01T00:00:00.000+00:00")
    return recording_of((head + "".join(map(recorded_line, happened))).encode(), "x")


def read_at(ms: int, text: str, port: int = 0) -> RecordedRead:
    return RecordedRead(port, START_NS + ms * 1_000_000, text.encode())


def test_a_real_boot_is_the_console_it_was() -> None:
    one = sample(BOOT)
    assert (one.format, one.tool, one.timeline.clock.name) == ("watch", "bootlab watch", "console")
    head, *rows = lzma.decompress((DATA / BOOT).read_bytes()).decode().splitlines()
    reads = [read for read in parse_recorded(rows, 1) if isinstance(read, RecordedRead)]
    text = b"".join(read.data for read in reads).decode(errors="replace")
    assert [event.name for event in one.timeline.events] == [row.rstrip("\r") for row in text.split("\n") if row]
    # A pty has no line rate, so no line is stamped before the read that brought its first byte, and none after.
    times = {read.t_ns - json.loads(head)["start_ns"] for read in reads}
    assert {event.t_ns for event in one.timeline.events} <= times
    assert [phase.name for phase in one.phases] == ["kernel", "user space, as far as logged"]
    assert one.facts["init"] == "/init" and one.facts["kernel"].startswith("6.1.")


def test_a_line_begins_when_its_first_byte_left() -> None:
    # 13 bytes in one read: the first had begun 13 byte times before it returned.
    one = recorded(read_at(100, "hello world\r\n"), RecordedEnd(START_NS + 200_000_000), ports=(LINE,))
    (event,) = one.timeline.events
    assert (event.t_ns, event.name) == (100_000_000 - 13 * 86_806, "hello world")


def test_several_lines_and_a_loss() -> None:
    one = recorded(
        read_at(10, "hello\r\n", 1), read_at(20, "[    0.000000] Linux version 6.1\n"), read_at(25, "ready", 1),
        RecordedLoss(1, START_NS + 30_000_000, True, "Input/output error"), ports=(PTY, PTY),
    )  # fmt: skip
    assert [(event.t_ns // 10**6, event.name) for event in one.timeline.events] == [
        (10, "/dev/pts/3: hello"), (20, "[    0.000000] Linux version 6.1"), (25, "/dev/pts/3: ready"),
        (30, "/dev/pts/3 was lost: Input/output error"),
    ]  # fmt: skip
    assert any("has no end" in note for note in one.notes) and any("line was lost" in note for note in one.notes)


def test_it_merges_as_any_serial_log_does() -> None:
    text = [f"[    {at // 1000}.{at % 1000:03}000] the kernel says {at}" for at in range(1000, 1100)]
    rec = recorded(*(read_at(700 + at, f"{row}\r\n") for at, row in zip(range(1000, 1100), text, strict=True)))
    log = recording_of("\n".join(["[    0.000000] Linux version 6.1", *text]).encode())
    found = merge([("boot.rec", rec), ("dmesg", log)]).placements[1]
    assert found.pairs == 100 and abs(found.offset_ns - 700_000_000) <= found.uncertainty_ns < 1_000_000


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("recording/1", "recording/9"), "bootlab.recording/9"),
        (lambda text: text.replace("[0, 51", "[7, 51"), "x: line 2: damaged: there is no port 7"),
        (lambda text: text.replace('"byte_ns": 0', '"byte_ns": -5'), "a byte of -5 ns"),
        (lambda text: text.replace('"byte_ns": 0', '"byte_ns": 1e999'), "not a recording"),
        (lambda text: text.partition("\n")[0], "at least one line"),
        (lambda text: text.replace("[0, 51", "[" * 100_000), "line 2: damaged"),
        (lambda text: text.replace("5100000000", "1e999"), "line 2: damaged"),
    ],
)
def test_what_is_damaged_is_refused(change: object, said: str) -> None:
    rows = (read_at(100, "hello\n"), read_at(200, "world\n"), RecordedEnd(START_NS + 300_000_000))
    text = header_line([PTY], START_NS, "2026-01-01") + "".join(map(recorded_line, rows))
    assert callable(change)
    with pytest.raises(FormatError, match=said):
        recording_of(change(text).encode(), "x")
