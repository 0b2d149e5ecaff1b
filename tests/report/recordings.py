"""Recordings small enough to be counted by hand."""

from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import Length, Recording
from bootlab.timeline.timeline import Timeline


def threads_recording(*, unit: str = "ns", name: str = "inner") -> Recording:
    """Two threads of 9,000,000 in all: `outer` of 6 holds `inner` of 2 twice, and `other` has 3 beside it."""
    spans = [
        Span(0, 6_000_000, "call", "outer", track="main"),
        Span(1_000_000, 3_000_000, "call", name, track="main"),
        Span(3_000_000, 5_000_000, "call", name, track="main"),
        Span(2_000_000, 5_000_000, "call", "alone", track="other"),
    ]
    timeline = Timeline.of(Clock("tsc", 1, unit), [Event(1_000, "thread", name)], spans)
    return Recording("tslog", "made up", timeline, "made up", facts={"kernel": name}, notes=(f"A note on {name}.",))


def units_recording() -> Recording:
    """Two units that overlap, phases for kernel and user space, and a unit of which only the length is known."""
    spans = [Span(2_000_000, 5_000_000, "unit", "a.service"), Span(3_000_000, 9_000_000, "unit", "b.service")]
    phases = (Span(0, 2_000_000, "phase", "kernel"), Span(2_000_000, 9_000_000, "phase", "userspace"))
    lengths = (Length(4_000_000, "blame", "c.service"),)
    clock = Clock("monotonic", 1_000)
    return Recording("systemd", "made up", Timeline.of(clock, [], spans), "made up", phases=phases, lengths=lengths)
