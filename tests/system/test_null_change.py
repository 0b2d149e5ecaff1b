"""Null changes: a word each, and where the system says how far apart its ticks are, another moment for them."""

from pathlib import Path

from bootlab.system import null_change, without_null_change
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


def test_the_system_that_it_is_a_change_of(tmp_path: Path) -> None:
    plain = replayed(tmp_path)
    ticking = plain.with_part("clock", null_tick_us=4000)
    for system in (plain, ticking, ticking.with_cmdline("a.b=c")):
        assert without_null_change(null_change(system, 7)) == without_null_change(system) == system
    held = plain.with_part("clock", skipped_ns=5)
    assert without_null_change(null_change(held, 7)) == held, "what its file says stays"
