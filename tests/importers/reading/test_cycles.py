"""Recordings in cycles of a counter that runs at 2 GHz: a cycle is half a nanosecond."""

from bootlab.importers.reading.cycles import NO_RATE, in_ns
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import Length, Recording, Stack
from bootlab.timeline.timeline import Timeline

COUNTER = Clock("tsc", 1, "cycles")
RECORDING = Recording(
    "x",
    "x",
    Timeline.of(Clock("whatever", 1), [Event(3, "x", "e")], [Span(10, 21, "call", "f")]),
    "made up",
    phases=(Span(0, 4_000_000_000, "phase", "all"),),
    lengths=(Length(5, "call", "g"),),
    stacks=(Stack(("f",), 9, 2),),
    facts={"CPU": "one"},
    notes=("noted",),
)


def test_every_time_becomes_ns_rounded_down() -> None:
    made = in_ns(RECORDING, COUNTER, 2_000_000_000)
    assert made.timeline.clock == Clock("tsc", 1)
    assert made.timeline.events == (Event(1, "x", "e"),)
    assert made.timeline.spans == (Span(5, 10, "call", "f"),)
    assert made.phases[0].end_ns == 2_000_000_000
    assert (made.lengths[0].took_ns, made.stacks[0]) == (2, Stack(("f",), 4, 2))
    assert made.facts == {"CPU": "one", "TSC frequency": "2000000000 Hz, as given"}
    assert made.notes == ("noted",)


def test_a_slow_counter_has_a_coarse_clock() -> None:
    made = in_ns(RECORDING, COUNTER, 1_000_000)
    assert made.timeline.clock.resolution_ns == 1000
    assert made.timeline.spans == (Span(10_000, 21_000, "call", "f"),)


def test_without_a_rate_they_stay_cycles_and_say_so() -> None:
    made = in_ns(RECORDING, COUNTER, None)
    assert made.timeline.clock is COUNTER and made.timeline.spans == RECORDING.timeline.spans
    assert made.notes == (NO_RATE, "noted") and made.facts == {"CPU": "one"}
