"""A UART, bit by bit: what a receiver at another rate makes of real consoles is recognised; they themselves are not."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bootlab.measure.causes.wrong_baud import GarbageWatch, strange_share

DATA = Path(__file__).parents[2] / "data" / "importers"
RATES = [9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600, 1500000, 3000000]


def console(name: str) -> bytes:
    rows = [line.split(" ", 1)[1] for line in (DATA / name).read_text().splitlines()]
    return b"".join(json.loads(row).encode("latin-1") for row in rows)


def line_levels(data: bytes) -> list[int]:
    """Return the levels of a line that carries `data` as 8N1: start bit, eight bits with the least first, stop bit."""
    return [level for byte in data for level in (0, *(byte >> bit & 1 for bit in range(8)), 1)]


def received(levels: list[int], sent_baud: int, baud: int, *, framing_is_zero: bool) -> Iterator[int]:
    """Yield what a receiver at `baud` reads of levels sent at `sent_baud`: it samples in the middle of its own bits.

    A frame without a stop bit comes as it is, or as zero (a tty of Linux without IGNPAR and PARMRK: termios(3)).
    """
    ratio = sent_baud / baud
    at, end = 0.0, len(levels)

    def level(time: float) -> int:
        return levels[int(time)] if time < end else 1

    while at < end:
        if level(at):
            at = float(int(at) + 1)
            continue
        bits = [level(at + (number + 1.5) * ratio) for number in range(9)]
        byte = sum(bit << number for number, bit in enumerate(bits[:8]))
        yield 0 if framing_is_zero and not bits[8] else byte
        at += 9.5 * ratio
        # Without a stop bit it waits for the line to be idle.
        while at < end and not bits[8] and not level(at):
            at += 1


def test_a_receiver_at_the_same_rate_reads_what_was_sent() -> None:
    data = bytes(range(256))
    assert bytes(received(line_levels(data), 9600, 9600, framing_is_zero=True)) == data


@pytest.mark.parametrize("framing_is_zero", [True, False])
@pytest.mark.parametrize("name", ["console-microvm.chunks", "console-q35.chunks"])
def test_every_other_rate_is_recognised(name: str, framing_is_zero: bool) -> None:
    beginning, whole = line_levels(console(name)[:1500]), line_levels(console(name))
    pairs = list(itertools.permutations(RATES, 2))
    assert len(pairs) == 90
    for sent, baud in pairs:
        # A fast sender is a byte now and then to a slow receiver: it takes the whole console to make enough of them.
        levels = beginning if sent <= 8 * baud else whole
        data = bytes(received(levels, sent, baud, framing_is_zero=framing_is_zero))
        watch = GarbageWatch()
        seen = [watch.take(data[start : start + 16]) for start in range(0, len(data), 16)]
        assert True in seen, f"sent at {sent}, read at {baud}: {strange_share(data):.2f} strange, {data[:60]!r}"


@pytest.mark.parametrize(
    "text",
    [
        console("console-microvm.chunks"),
        console("console-q35.chunks"),
        "Grüße, 起動しました, ┌──────┐ │ menu │ └──────┘\r\n".encode() * 20,
        b"\x1b[2J\x1b[1;1H\x1b[0;32m  OK  \x1b[0m] Started \x1b[0;1;39mlogin\x1b[0m\r\n" * 20,
        b"NAND:  \b\b\b\b|/-\\" * 30,
        "ï»¿ROM: \xff\x00\x00\x01\r\n".encode("latin-1") + b"U-Boot SPL 2023.01 (Jan 09 2023 - 16:07:33 +0000)\r\n" * 6,
    ],
)
def test_what_consoles_print_is_not_garbage(text: bytes) -> None:
    watch = GarbageWatch()
    assert all(watch.take(text[start : start + 7]) is None for start in range(0, len(text), 7))


def test_text_after_garbage_is_said_once() -> None:
    watch = GarbageWatch()
    assert [watch.take(bytes(range(128, 228))), watch.take(b"\xff\x00" * 20)] == [True, None]
    assert [watch.take(b"U-Boot 2023.01 on a real board\r\n" * 9), watch.take(b"ok\r\n")] == [False, None]
