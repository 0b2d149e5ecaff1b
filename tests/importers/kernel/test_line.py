"""What stands before a kernel's message: journals in any language, and the prefixes of vendors."""

import re

import pytest

from bootlab.importers.kernel.line import KernelLine, find_stamp, parse_row, without_host
from tests.importers.samples import DATA, sample

VENDORS = ("amlogic", "mediatek", "samsung", "huawei")


@pytest.mark.parametrize(
    ("row", "line"),
    [
        ("[    0.000000@0] Booting Linux", KernelLine(0, None, None, "Booting Linux")),
        ("[    1.250000@C3] x", KernelLine(1_250_000_000, None, None, "x")),
        ("[    0.000000] -(0)[0:swapper]Booting Linux", KernelLine(0, None, "T0", "Booting Linux")),
        ("[    1.000000]<0>.(2)[71:kworker/2:1]x", KernelLine(1_000_000_000, None, "T71", "x")),
        ("<6>[    0.500000]  [0:        swapper:    0] x", KernelLine(500_000_000, 6, "T0", "x")),
        ("<6>[    0.500000] I[3:      swapper/0:    1] x", KernelLine(500_000_000, 6, "T1", "x")),
        ("[    0.500000s][pid:1,cpu4,swapper/0]x", KernelLine(500_000_000, None, "T1", "x")),
        ("<6>[    0.500000] (CPU:0-pid:1:swapper/0) x", KernelLine(500_000_000, 6, "T1", "x")),
        ("<6>[    0.000000,0] x", KernelLine(0, 6, None, "x")),
        ("[    0.500000 / 01-01 00:00:00.012] x", KernelLine(500_000_000, None, None, "x")),
        ("[    0.500000][    T1] x", KernelLine(500_000_000, None, "T1", "x")),
        ("[    0.500000] [    C0] x", KernelLine(500_000_000, None, "C0", "x")),
        # What only looks like a vendor's prefix is the message.
        ("[    0.500000] [drm] Initialized i915", KernelLine(500_000_000, None, None, "[drm] Initialized i915")),
        ("[    0.500000] (0) x", KernelLine(500_000_000, None, None, "(0) x")),
        ("févr. 06 13:18:23 host kernel: x", KernelLine(None, None, None, "x")),
        (" 3月 06 13:18:23 host kernel: x", KernelLine(None, None, None, "x")),
        ("Fri 2026-11-20 10:00:00 UTC host kernel: x", KernelLine(None, None, None, "x")),
        ("1795168800.123456 host kernel: x", KernelLine(None, None, None, "x")),
    ],
)
def test_prefixes(row: str, line: KernelLine) -> None:
    assert list(parse_row(row)) == [line]


@pytest.mark.parametrize("vendor", VENDORS)
def test_vendors_logs_have_times_initcalls_and_no_false_notes(vendor: str) -> None:
    name = f"kernel-logs/{vendor}.log"
    rows = (DATA / name).read_text().splitlines()
    one = sample(name)
    assert len(one.timeline.events) == len(rows)
    (call,) = [span for span in one.timeline.spans if span.source == "initcall"]
    # By the file itself: the stamps of the two lines.
    stamps = [float(re.findall(r"(\d+\.\d{6})", row)[0]) for row in rows if "calling " in row or "initcall " in row]
    assert call.duration_ns == round((stamps[1] - stamps[0]) * 1e9)
    assert not any("printk.time" in note or "ring buffer" in note for note in one.notes)


def test_what_stood_before_a_message_on_its_line_is_no_line_of_the_file() -> None:
    assert [line.rows for line in parse_row("Booting from ROM...[    0.000000] Linux version 6")] == [0, 1]


def test_a_host_goes_only_where_every_line_has_it() -> None:
    lines = [KernelLine(1, None, None, "box kernel: a"), KernelLine(2, None, None, "box systemd[1]: b")]
    assert [line.text for line in without_host(lines)] == ["a", "systemd[1]: b"]
    lines = [*lines, KernelLine(3, None, None, "c")]
    assert without_host(lines) is lines


def test_a_stamp_is_found_anywhere_in_a_line() -> None:
    assert find_stamp("x [    1.500000] y") == 1_500_000_000
    assert find_stamp("x") is None
