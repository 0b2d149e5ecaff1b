"""Consoles as they really come: firmware escapes, printk stamps, silences, bytes that are no text."""

from pathlib import Path

import pytest

from bootlab.report.parts.console import read_console

DATA = Path(__file__).parents[2] / "data" / "report"


def test_real_console_of_a_stock_kernel() -> None:
    console = read_console("baseline", (DATA / "console-6.1-microvm.log").read_bytes())
    assert console.lines[0].text.startswith("SeaBIOS (version ")
    first = next(line for line in console.lines if line.stamp_ns is not None)
    assert first.text.startswith("Linux version 6.1.0-50-cloud-amd64")
    assert console.lines[-1].text == "reboot: machine restart"
    assert console.lines[-1].stamp_ns == 1_287_649_000
    assert not any("\x1b" in line.text or "\r" in line.text for line in console.lines)
    # The crypto self-tests say nothing for 0.7 s: the silence that the page points at.
    longest = max((line for line in console.lines if line.silence_ns), key=lambda line: line.silence_ns or 0)
    assert longest.silence_ns == 707_569_000


@pytest.mark.parametrize(
    ("line", "stamp_ns", "text"),
    [
        (b"[    0.123456] plain", 123_456_000, "plain"),
        (b"[    0.123456][    T1] caller", 123_456_000, "caller"),
        (b"<6>[   12.000001][    C0] level", 12_000_001_000, "level"),
        (b"[    0.1x3456] broken", None, "[    0.1x3456] broken"),
        (b"BOOT-OK\r", None, "BOOT-OK"),
        (b"\xff\xfe\x00nul", None, "\\xff\\xfe\\x00nul"),
    ],
)
def test_lines(line: bytes, stamp_ns: int | None, text: str) -> None:
    assert [(found.stamp_ns, found.text) for found in read_console("x", line).lines] == [(stamp_ns, text)]


def test_an_empty_console_has_no_lines() -> None:
    assert read_console("x", b"").lines == ()
