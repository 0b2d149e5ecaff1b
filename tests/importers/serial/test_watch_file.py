"""Recordings of serial lines: what was written is read back, and a damaged one is named."""

import pytest

from bootlab.errors import InputError
from bootlab.importers.serial.watch_file import (
    RecordedEnd,
    RecordedLoss,
    RecordedPort,
    RecordedRead,
    header_line,
    is_recording,
    parse_header,
    parse_recorded,
    recorded_line,
)

PORTS = [RecordedPort("/dev/ttyUSB0", "tty", 115200, 86806), RecordedPort("socket://board:4000", "socket", None, 0)]
HAPPENED = [
    RecordedRead(0, 2_000, bytes(range(256))),
    RecordedRead(1, 3_000, b""),
    RecordedLoss(0, 4_000, True, "Input/output error"),
    RecordedEnd(5_000),
]


def test_what_was_recorded_is_read_back() -> None:
    head = header_line(PORTS, 1_000, "2026-01-01T00:00:00.000+00:00")
    assert is_recording(head.encode()[:64])
    header = parse_header(head)
    assert (list(header.ports), header.start_ns) == (PORTS, 1_000)
    assert list(parse_recorded([recorded_line(one) for one in HAPPENED], 2)) == HAPPENED


def test_a_recording_cut_short_is_good_up_to_there() -> None:
    lines = [recorded_line(one) for one in HAPPENED[:2]]
    assert list(parse_recorded([*lines[:1], lines[1][:9]], 2)) == HAPPENED[:1]


@pytest.mark.parametrize("damaged", ["{}\n", "[0, 1]\n", '[7, 1, ""]\n', '[0, 1, "*"]\n', "null\n", "\n"])
def test_a_damaged_line_is_named(damaged: str) -> None:
    with pytest.raises(InputError, match="line 3: damaged"):
        list(parse_recorded([recorded_line(HAPPENED[0]), damaged, recorded_line(HAPPENED[3])], 2))


def test_a_later_recording_is_refused() -> None:
    with pytest.raises(InputError, match="bootlab.recording/2"):
        parse_header('{"schema": "bootlab.recording/2"}')
    with pytest.raises(InputError, match="not a recording"):
        parse_header("[1]")


@pytest.mark.parametrize(
    "damage", ['{"schema": "\\u202e\\u001b[2J"}', '{"schema": "bootlab.recording/1", "ports": [{"\\u202e": 1}]}']
)
def test_what_a_damaged_one_says_harms_no_terminal(damage: str) -> None:
    # Found by `make fuzz`.
    with pytest.raises(InputError) as refused:
        parse_header(damage)
    assert refused.value.message.isascii() and "\x1b" not in refused.value.message
