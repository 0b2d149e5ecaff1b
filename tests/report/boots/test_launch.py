"""What came before power-on, on a terminal: one boot's steps, a series with its humps, two sides."""

from rich.console import Console

from bootlab.measure.record import BootRecord
from bootlab.report.boots.launch import launch_lines, parts_lines, parts_side_by_side
from tests.cli.recorded_runs import boots
from tests.measure.test_launch import launched

MS = 1_000_000


def shown(lines: list[object]) -> str:
    """Return what a terminal of 120 columns shows."""
    console = Console(width=120, record=True, file=None, quiet=False)
    with console.capture() as captured:
        for line in lines:
            console.print(line)
    return captured.get()


def many(record: BootRecord, times: list[int]) -> list[BootRecord]:
    return [launched(record, ("VMM start", 10 * MS), ("VM creation", time * MS)) for time in times]


def test_one_boot_says_what_its_vmm_did() -> None:
    record = boots("series-before.json")[0]
    assert launch_lines(record) == []
    told = shown(list(launch_lines(launched(record, ("VMM start", 10 * MS), ("VM creation", 2 * MS)))))
    assert "12.00 of Firecracker 1.15.1: VMM start 10.00, VM creation 2.00" in told


def test_two_humps_of_one_part_are_named() -> None:
    record = boots("series-before.json")[0]
    times = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30]
    told = shown(list(parts_lines(many(record, times))))
    assert "two humps: 10 around 1.00 and 10 around 30.00 ms" in told
    assert "VMM start to ready" in told


def test_two_sides_have_the_parts_of_both() -> None:
    record = boots("series-before.json")[0]
    before = [launched(record, ("VMM start and VM creation", 30 * MS), ("API", MS))]
    told = shown(list(parts_side_by_side(before, many(record, [2]))))
    for name in ("VMM start and VM creation", "API", "VMM start ", "VM creation", "VMM start to ready"):
        assert name in told
    assert parts_side_by_side(before, [record]) == []
