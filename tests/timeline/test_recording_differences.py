"""Two recordings side by side: phases in the order of the boot, things by their kind, each once."""

import pytest

from bootlab.errors import InputError
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Span
from bootlab.timeline.recording import Length, Recording, Series
from bootlab.timeline.recording_differences import (
    Difference,
    differences_by_source,
    expect_comparable,
    phase_differences,
)
from bootlab.timeline.timeline import Timeline


def recording(
    *spans: Span, phases: tuple[tuple[str, int], ...] = (), lengths: tuple[Length, ...] = (), unit: str = "ns"
) -> Recording:
    placed, at = [], 0
    for name, took in phases:
        placed.append(Span(at, at + took, "phase", name))
        at += took
    timeline = Timeline.of(Clock("x", 1, unit), [], spans)
    return Recording("x", "x", timeline, "made up", phases=tuple(placed), lengths=lengths)


def test_a_phase_of_the_second_alone_stands_where_it_comes_there() -> None:
    before = recording(phases=(("kernel", 10), ("userspace", 30)))
    after = recording(phases=(("firmware", 5), ("kernel", 8), ("initrd", 2), ("userspace", 30)))
    assert phase_differences(before, after) == [
        Difference("firmware", None, 5),
        Difference("kernel", 10, 8),
        Difference("initrd", None, 2),
        Difference("userspace", 30, 30),
    ]
    assert [one.change_ns for one in phase_differences(after, before)] == [-5, 2, -2, 0]


def test_a_kernel_in_parts_is_compared_with_one_that_has_none_as_a_whole() -> None:
    whole = recording(phases=(("kernel", 9), ("user space, as far as logged", 30)))
    parts = recording(
        phases=(("kernel, to its initcalls", 2), ("initcalls", 3), ("kernel, to init", 1),
                ("user space, as far as logged", 30))
    )  # fmt: skip
    assert phase_differences(whole, parts)[0] == Difference("kernel", 9, 6)
    assert phase_differences(parts, whole)[0] == Difference("kernel", 6, 9)
    assert [one.name for one in phase_differences(parts, parts)][:2] == ["kernel, to its initcalls", "initcalls"]


def test_the_largest_change_comes_first_and_equal_ones_by_name() -> None:
    before = recording(Span(0, 10, "unit", "b"), Span(0, 10, "unit", "a"), Span(0, 10, "unit", "same"))
    after = recording(
        Span(0, 4, "unit", "a"), Span(0, 16, "unit", "b"), Span(0, 10, "unit", "same"), Span(0, 9, "unit", "c")
    )
    assert differences_by_source(before, after) == {
        "unit": [
            Difference("c", None, 9),
            Difference("a", 10, 4),
            Difference("b", 10, 16),
            Difference("same", 10, 10),
        ]
    }


def test_a_kind_that_one_has_not_got_is_left_out_and_so_are_threads() -> None:
    before = recording(Span(0, 10, "unit", "a"), Span(0, 10, "call", "f", track="main"))
    after = recording(Span(0, 10, "unit", "a"), Span(0, 10, "initcall", "g"), Span(0, 9, "call", "f", track="main"))
    assert list(differences_by_source(before, after)) == ["unit"]


def test_things_of_one_name_are_told_apart_by_their_order() -> None:
    before = recording(Span(0, 10, "unit", "a"), Span(20, 25, "unit", "a"))
    after = recording(Span(0, 11, "unit", "a"))
    assert differences_by_source(before, after) == {"unit": [Difference("a", 5, None), Difference("a", 10, 11)]}


def test_a_list_of_lengths_tells_no_span_again() -> None:
    told = (Length(99, "unit", "a"), Length(7, "unit", "b"))
    one = recording(Span(0, 10, "unit", "a"), lengths=told)
    assert differences_by_source(one, one) == {"unit": [Difference("a", 10, 10), Difference("b", 7, 7)]}


def test_cycles_and_ns_are_not_compared_nor_a_series_with_a_boot() -> None:
    one, cycles = recording(), recording(unit="cycles")
    expect_comparable(one, one)
    expect_comparable(cycles, cycles)
    with pytest.raises(InputError, match="counts ns and the other cycles") as refused:
        expect_comparable(one, cycles)
    assert refused.value.hint == "--tsc-frequency HZ makes ns of cycles"
    several = Recording("x", "x", one.timeline, "made up", series=(Series("total", "ns", (1.0, 2.0)),))
    expect_comparable(several, several)
    with pytest.raises(InputError, match="figures of several boots"):
        expect_comparable(several, one)
