"""Timelines: order, and events moved from one clock to another."""

import pytest

from bootlab.timeline.clock import Alignment, Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.timeline import Timeline

KERNEL = Clock("printk", 1_000)
HOST = Clock("host", 1)


def test_events_are_ordered_by_time_and_keep_their_order_at_one_time() -> None:
    line = Timeline.of(KERNEL, [Event(5, "kernel", "c"), Event(1, "kernel", "a"), Event(5, "kernel", "b")])
    assert [event.name for event in line.events] == ["a", "c", "b"]


def test_first_finds_the_earliest_or_nothing() -> None:
    line = Timeline.of(KERNEL, [Event(5, "kernel", "x"), Event(2, "kernel", "x")])
    assert line.first("x") == Event(2, "kernel", "x")
    assert line.first("y") is None


def test_another_clock_sees_what_the_alignment_covers() -> None:
    kernel = Timeline.of(
        KERNEL,
        [Event(1, "kernel", "early"), Event(20, "kernel", "late")],
        [Span(2, 30, "initcall", "long"), Span(15, 18, "initcall", "short")],
    )
    seen = kernel.seen_by(Alignment(KERNEL, HOST, 100, 3, since_ns=10))
    assert seen == Timeline(HOST, (Event(120, "kernel", "late"),), (Span(115, 118, "initcall", "short"),))
    assert seen.spans[0].duration_ns == 3


def test_merge_wants_one_clock() -> None:
    host = Timeline.of(HOST, [Event(110, "console", "login:")])
    kernel = Timeline.of(KERNEL, [Event(20, "kernel", "late")])
    with pytest.raises(ValueError, match="cannot merge printk into host"):
        host.merge(kernel)
    merged = host.merge(kernel.seen_by(Alignment(KERNEL, HOST, 80, 3, 0)))
    assert [event.source for event in merged.events] == ["kernel", "console"]


def test_an_alignment_from_another_clock_is_refused() -> None:
    with pytest.raises(ValueError, match="is on host"):
        Timeline.of(HOST, []).seen_by(Alignment(KERNEL, HOST, 0, 0, 0))
