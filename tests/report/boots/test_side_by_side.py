"""Boots side by side: aligned on common marks, with no time lost."""

from bootlab.measure.record import PhaseRecord
from bootlab.report.boots.side_by_side import Side, align, largest_change
from bootlab.timeline.phases import cut

BEFORE = {"power_on": 0, "image_entry": 5, "kernel_entry": 105, "start_kernel": 110, "ready": 1000}
AFTER = {"power_on": 0, "kernel_entry": 6, "start_kernel": 11, "ready": 600}


def phases(marks: dict[str, int]) -> list[PhaseRecord]:
    return [
        PhaseRecord(
            name=phase.name, start=phase.start, end=phase.end, start_ns=phase.start_ns, duration_ns=phase.duration_ns
        )
        for phase in cut(marks)
    ]  # fmt: skip


def test_a_missing_mark_merges_phases_on_both_sides() -> None:
    rows = align([Side("a", "", 1000, phases(BEFORE)), Side("b", "", 600, phases(AFTER))])
    assert rows[0].name == "firmware + decompressor"
    assert rows[0].durations_ns() == (105, 6)
    assert [sum(row.durations_ns()[side] for row in rows) for side in (0, 1)] == [1000, 600]


def test_one_side_keeps_its_own_phases() -> None:
    rows = align([Side("a", "", 1000, phases(BEFORE))])
    assert [row.name for row in rows] == [phase.name for phase in phases(BEFORE)]


def test_sides_without_common_marks_have_no_rows() -> None:
    assert align([Side("a", "", None, phases(BEFORE)), Side("b", "", None, [])]) == []
    assert largest_change(phases(BEFORE), []) is None


def test_largest_change_is_the_phase_that_moved_most() -> None:
    change = largest_change(phases(BEFORE), phases(AFTER))
    assert change is not None
    assert change[1] == -301
