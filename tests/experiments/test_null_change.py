"""Null changes: a word each, and where the system says how far apart its ticks are, another moment for them."""

from pathlib import Path

from bootlab.experiments.null_change import null_change
from tests.replayed import replayed


def test_a_word_alone_where_nothing_is_said_of_ticks(tmp_path: Path) -> None:
    system = replayed(tmp_path)
    changed = null_change(system, 3)
    assert changed == system.with_cmdline("bootlab.null=3") and changed.clock.skipped_ns == 0


def test_null_changes_move_the_ticks_by_parts_of_one_that_lie_evenly(tmp_path: Path) -> None:
    system = replayed(tmp_path).with_part("clock", null_tick_us=4000)
    moved = [null_change(system, number).clock.skipped_ns for number in (*range(1, 6), *range(101, 104))]
    assert moved[:3] == [2_472_136, 944_272, 3_416_408]
    assert all(0 < ns < 4_000_000 for ns in moved) and len(set(moved)) == len(moved)
    first = sorted(moved[:5])
    assert max(b - a for a, b in zip([0, *first], [*first, 4_000_000], strict=True)) < 1_600_000
    assert null_change(system, 1_000_000).clock.skipped_ns == 1, "a part of 0 would move nothing"
