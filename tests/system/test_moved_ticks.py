"""How far a boot's ticks are moved: by its seed, in a null change by that, evenly, and by less than one."""

from pathlib import Path

from bootlab.system import NULL_WORD, System, moved_ticks_ns
from tests.replayed import replayed

TICK_NS = 4_000_000


def ticking(folder: Path) -> System:
    return replayed(folder).with_part("clock", tick_us=TICK_NS // 1000)


def test_no_tick_is_moved_where_nothing_is_said_of_them(tmp_path: Path) -> None:
    assert moved_ticks_ns(replayed(tmp_path).with_seed(7)) == 0


def test_seeds_and_null_changes_move_them_by_parts_that_lie_evenly(tmp_path: Path) -> None:
    system = ticking(tmp_path)
    seeds = [moved_ticks_ns(system.with_seed(seed)) for seed in (1, 2, 3)]
    nulls = [moved_ticks_ns(system.with_cmdline(f"{NULL_WORD}={number}")) for number in (1, 2, 3, 4, 5, 101, 102)]
    assert seeds == [2_472_136, 944_272, 3_416_408]
    found = sorted({*seeds, *nulls})
    assert len(found) == 10 and found[-1] < TICK_NS
    assert max(b - a for a, b in zip([0, *found], [*found, TICK_NS], strict=True)) < 1_000_000


def test_a_null_change_is_moved_alike_with_each_seed(tmp_path: Path) -> None:
    null = ticking(tmp_path).with_cmdline(f"a=b {NULL_WORD}=3 -- c")
    assert moved_ticks_ns(null.with_seed(1)) == moved_ticks_ns(null.with_seed(9)) > 0
