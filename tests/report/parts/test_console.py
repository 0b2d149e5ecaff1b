"""Consoles as they really come: firmware escapes, printk stamps, silences, bytes that are no text."""

from pathlib import Path

import pytest

from bootlab.cli.boot import _LiveConsole
from bootlab.report.parts.console import on_screen, read_console

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


def test_the_menu_of_grub_is_read_as_it_stands_on_a_screen(capsys: pytest.CaptureFixture[str]) -> None:
    raw = (DATA / "console-grub-menu.log").read_bytes()
    shown = [line.text.strip() for line in read_console("x", raw).lines if line.text]
    assert shown[:3] == [
        "GNU GRUB  version 2.06-13+deb12u2",
        "Use the ^ and v keys to select which entry is highlighted.",
        "Press enter to boot the selected OS, `e' to edit the commands",
    ]
    assert [text[-3:] for text in shown if text.startswith("The highlighted entry will be executed")] == [
        "2s.",
        "1s.",
        "0s.",
    ]
    assert shown[-3:-1] == ["Loading Linux 6.1.0-50-cloud-amd64 ...", "Loading initial ramdisk ..."]
    assert read_console("x", raw).lines[-1].stamp_ns == 0
    live = _LiveConsole()
    for line in raw.decode().split("\n"):
        live.show(1_500_000_000, line)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "[   1.500] GNU GRUB  version 2.06-13+deb12u2"
    assert " " * 11 + "The highlighted entry will be executed automatically in 1s." in said
    assert not any("\\x" in line or len(line) > 90 for line in said[:-2])


def test_a_line_without_places_is_left_as_it_is() -> None:
    assert on_screen("  a\x1b[1mb | ") == ["  a\x1b[1mb | "]
