"""Moves a recording onto another clock; what the alignment does not cover keeps its length and loses its place."""

from collections.abc import Iterable
from dataclasses import replace

from bootlab.importers.reading.text_in_place import moved
from bootlab.timeline.clock import Alignment
from bootlab.timeline.event import Span
from bootlab.timeline.recording import Length, Recording


def place_spans(spans: Iterable[Span], alignment: Alignment | None) -> tuple[list[Span], list[Length]]:
    """Return the spans on the alignment's target clock, and the lengths of those that it does not cover."""
    placed, unplaced = [], []
    for span in spans:
        if alignment is not None and alignment.covers(span.start_ns):
            start, end = alignment.translate(span.start_ns), alignment.translate(span.end_ns)
            placed.append(replace(span, start_ns=start, end_ns=end))
        else:
            about = "; ".join(filter(None, [span.about, f"at {span.start_ns / 1e6:.2f} ms by its own clock"]))
            unplaced.append(Length(span.duration_ns, span.source, span.name, about))
    return placed, unplaced


def place(recording: Recording, alignment: Alignment) -> Recording:
    """Return a recording on the alignment's target clock. Phases are moved as they are, covered or not."""
    spans, unplaced = place_spans(recording.timeline.spans, alignment)
    covered = [alignment.covers(event.t_ns) for event in recording.timeline.events]
    events = [event for event, kept in zip(recording.timeline.events, covered, strict=True) if kept]
    timeline = replace(
        recording.timeline,
        clock=alignment.target,
        events=tuple(replace(event, t_ns=alignment.translate(event.t_ns)) for event in events),
        spans=tuple(spans),
    )
    phases = [
        replace(phase, start_ns=alignment.translate(phase.start_ns), end_ns=alignment.translate(phase.end_ns))
        for phase in recording.phases
    ]
    return replace(
        recording,
        timeline=timeline,
        phases=tuple(phases),
        lengths=(*unplaced, *recording.lengths),
        text=moved(recording.text, covered),
    )
