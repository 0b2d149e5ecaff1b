"""Stacks of TSLOG: calls nest in their own thread, and recursion stays small."""

from bootlab.timeline.stack_tree import DEEPEST
from tests.importers.freebsd.rows import own_ns, rows


def test_calls_interleaved_between_threads_nest_in_their_own() -> None:
    boot = rows("0x1 10 ENTER a\n0x2 11 ENTER b\n0x1 12 ENTER c\n0x2 13 EXIT b\n0x1 14 EXIT c\n0x1 15 EXIT a\n")
    assert own_ns(boot) == {"thread 0;a": 3, "thread 0;a;c": 2, "thread 1;b": 2}


def test_a_call_that_nobody_ended_ends_with_its_caller() -> None:
    boot = rows("0x1 10 ENTER a\n0x1 20 ENTER b\n0x1 30 EXIT a\n0x1 40 ENTER c\n0x1 50 EXIT c\n")
    assert [(one.name, one.start_ns, one.end_ns, bool(one.about)) for one in boot.timeline.spans] == [
        ("a", 10, 30, False), ("b", 20, 30, True), ("c", 40, 50, False),
    ]  # fmt: skip
    assert "1 call ended unrecorded: they end with their callers." in boot.notes


def test_recursion_without_end_stays_small() -> None:
    count = 50_000
    boot = rows("".join(f"0x1 {10 + n} ENTER f\n" for n in range(count)))
    assert max(len(one.frames) for one in boot.stacks) <= DEEPEST + 1
    assert sum(one.own_ns for one in boot.stacks) == count - 1
