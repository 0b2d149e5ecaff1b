"""Suspend and resume in a kernel's log: no boot, but phases and callbacks of its own."""

import re

from bootlab.importers.kernel.line import parse_row
from bootlab.importers.kernel.suspend import SuspendCycle, find_cycle, is_callback
from tests.importers.samples import DATA, phases_ms, sample

NAME = "kernel-logs/suspend-5.10.log"


def test_a_suspend_is_no_boot() -> None:
    one = sample(NAME)
    assert list(phases_ms(one)) == ["suspend", "resume", "after the resume"]
    assert one.notes == ("This is the log of a suspend and resume, and of no boot.",)


def test_callbacks_are_as_long_as_their_two_lines_say() -> None:
    # By the file itself: the stamp of each `returned` less that of the `calling` of the same device and callback.
    begun: dict[tuple[str, str], float] = {}
    expected = {}
    for row in (DATA / NAME).read_text().splitlines():
        stamp, text = float(row[1:13]), row[15:]
        if (found := re.match(r"(.*): PM: calling (\w+)", text)) is not None:
            begun[found[1], found[2]] = stamp
        elif (found := re.match(r"(.*): PM: (\w+)\S* returned", text)) is not None:
            expected[f"{found[1]} {found[2]}"] = round((stamp - begun[found[1], found[2]]) * 1e6)
    spans = {span.name: span.duration_ns // 1000 for span in sample(NAME).timeline.spans}
    assert spans == expected and len(spans) == 3


def test_old_kernels_name_the_device_alone() -> None:
    assert is_callback("calling  0000:00:1f.2+ @ 2475, parent: pci0000:00")
    assert is_callback("call 0000:00:1f.2+ returned 0 after 98123 usecs")
    assert not is_callback("calling  acpi_init+0x0/0x2d0 @ 1")


def test_a_machine_that_never_woke() -> None:
    rows = ["[    5.000000] PM: suspend entry (deep)", "[    6.000000] x"]
    assert find_cycle([line for row in rows for line in parse_row(row)]) == SuspendCycle(5_000_000_000, None, None)
