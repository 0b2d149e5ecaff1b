"""A boot that went on from another's mark has one trace, whose counts go on as those of one process would."""

import pytest

from bootlab.profile.recorded.joined import join_traces
from bootlab.profile.recorded.trace import Stamp, parse_trace

BEFORE = """bootlab-trace 1
clock virtual 0
exact disks
slide 1000
mark kernel_entry 10 10
console 20 20 6
reads rootfs 4096 1
guest late 30 25
console 28 24 3
settled 4 0
modelled rootfs 3 0
end 30 25
"""
AFTER = """bootlab-trace 1
clock virtual 0
exact disks
console 40 30 5
reads rootfs 512 1
guest ready 50 40
settled 2 1
modelled rootfs 5 1
modelled disk0 2 0
end 50 40
"""


def test_what_was_counted_goes_on() -> None:
    trace = parse_trace(join_traces(BEFORE, "late", AFTER))
    assert list(trace.guest_marks) == ["late", "ready"] and list(trace.marks) == ["kernel_entry"]
    assert trace.guest_marks["late"].read_bytes == 4096 and trace.guest_marks["ready"].read_bytes == 4608
    assert trace.modelled == {"rootfs": (8, 1), "disk0": (2, 0)}
    assert trace.settled == (6, 1) and trace.slide == 0x1000 and trace.exact == ["disks"]
    assert trace.end == Stamp(50, 40, 0, 4608)


def test_a_line_that_had_begun_before_the_mark_ends_behind_it() -> None:
    trace = parse_trace(join_traces(BEFORE, "late", AFTER))
    assert list(trace.console_ends()) == [(6, Stamp(20, 20)), (14, Stamp(40, 30, 0, 4096))]


def test_what_the_later_process_was_refused_is_told() -> None:
    joined = join_traces(BEFORE, "late", AFTER.replace("exact disks", "refused disks no such thing"))
    assert parse_trace(joined).refused == {"disks": "no such thing"}


@pytest.mark.parametrize("after", ["", "bootlab-trace 1\n", "bootlab-trace 1\nclock virtual 0\nguest ready 50 4"])
def test_of_a_process_that_was_killed_what_it_had_told_is_there(after: str) -> None:
    trace = parse_trace(join_traces(BEFORE, "late", after))
    assert list(trace.guest_marks) == ["late"] and trace.end is None


def test_a_trace_without_the_mark_is_refused() -> None:
    with pytest.raises(ValueError, match="no mark later"):
        join_traces(BEFORE, "later", AFTER)
