"""Recordings that count cycles of the time stamp counter: as ns where its rate is known, as cycles where it is not."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Span
from bootlab.timeline.recording import Recording
from bootlab.timeline.timeline import Timeline

NO_RATE: Final = (
    "Times are cycles of the time stamp counter, because the recording does not say how fast it ran; "
    "--tsc-frequency HZ makes ns of them."
)


def in_ns(recording: Recording, clock: Clock, tsc_hz: int | None) -> Recording:
    """Return a recording whose times are cycles as one in ns, if the rate is given, else as one in cycles.

    `clock`: what it counted on, whose unit is cycles. The timeline's own clock is replaced.
    """
    if tsc_hz is None:
        return replace(
            recording,
            timeline=replace(recording.timeline, clock=clock),
            notes=(NO_RATE, *recording.notes),
        )

    def ns(cycles: int) -> int:
        return cycles * 1_000_000_000 // tsc_hz

    timeline = recording.timeline
    return replace(
        recording,
        timeline=Timeline(
            Clock(clock.name, max(1_000_000_000 // tsc_hz, 1)),
            tuple(replace(event, t_ns=ns(event.t_ns)) for event in timeline.events),
            _spans(timeline.spans, ns),
        ),
        phases=_spans(recording.phases, ns),
        lengths=tuple(replace(one, took_ns=ns(one.took_ns)) for one in recording.lengths),
        stacks=tuple(replace(one, own_ns=ns(one.own_ns)) for one in recording.stacks),
        facts={**recording.facts, "TSC frequency": f"{tsc_hz} Hz, as given"},
    )


def _spans(spans: tuple[Span, ...], ns: Callable[[int], int]) -> tuple[Span, ...]:
    return tuple(replace(span, start_ns=ns(span.start_ns), end_ns=ns(span.end_ns)) for span in spans)
