"""A recording moved onto another clock, by an offset of 1000 that holds from 100 on."""

from bootlab.importers.onto_another_clock import place, place_spans
from bootlab.timeline.clock import Alignment, Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import Length, Recording
from bootlab.timeline.timeline import Timeline

OWN, TARGET = Clock("own", 1), Clock("target", 1)
ALIGNMENT = Alignment(OWN, TARGET, offset_ns=1000, uncertainty_ns=3, since_ns=100)
EARLY, LATE = Span(50, 80, "unit", "early"), Span(100, 150, "unit", "late")


def test_what_is_covered_is_moved_and_the_rest_keeps_its_length() -> None:
    spans, lengths = place_spans([EARLY, LATE], ALIGNMENT)
    assert spans == [Span(1100, 1150, "unit", "late")]
    assert lengths == [Length(30, "unit", "early", "at 0.00 ms by its own clock")]


def test_what_else_is_said_of_it_stays() -> None:
    _, lengths = place_spans([Span(2_500_000, 3_000_000, "unit", "a", about="slow")], None)
    assert lengths == [Length(500_000, "unit", "a", "slow; at 2.50 ms by its own clock")]


def test_a_whole_recording_has_the_target_for_a_clock() -> None:
    timeline = Timeline.of(OWN, [Event(99, "x", "before"), Event(120, "x", "after")], [EARLY, LATE])
    known = Length(7, "unit", "known")
    phases = (Span(0, 90, "phase", "kernel"), Span(90, 200, "phase", "userspace"))
    moved = place(Recording("x", "x", timeline, "made up", phases=phases, lengths=(known,)), ALIGNMENT)
    assert moved.timeline.clock is TARGET
    assert moved.timeline.events == (Event(1120, "x", "after"),)
    assert moved.timeline.spans == (Span(1100, 1150, "unit", "late"),)
    # Phases follow each other without a gap: they are moved, covered or not.
    assert [(one.start_ns, one.end_ns) for one in moved.phases] == [(1000, 1090), (1090, 1200)]
    assert [one.name for one in moved.lengths] == ["early", "known"]
