"""Timeline: the events and spans of one boot on one clock, in order of time."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from bootlab.timeline.clock import Alignment, Clock
from bootlab.timeline.event import Event, Span


@dataclass(frozen=True, slots=True)
class Timeline:
    """Events by time and spans by start; what happened at the same time keeps the order it was recorded in.

    Make one with `Timeline.of`, which sorts.
    """

    clock: Clock
    events: tuple[Event, ...]
    spans: tuple[Span, ...]

    @classmethod
    def of(cls, clock: Clock, events: Iterable[Event], spans: Iterable[Span] = ()) -> "Timeline":
        """Return the timeline of events and spans given in any order."""
        return cls(
            clock,
            tuple(sorted(events, key=lambda event: event.t_ns)),
            tuple(sorted(spans, key=lambda span: span.start_ns)),
        )

    def first(self, name: str) -> Event | None:
        """Return the earliest event of this name, or None."""
        return next((event for event in self.events if event.name == name), None)

    def seen_by(self, alignment: Alignment) -> "Timeline":
        """Return this timeline on the target clock of `alignment`.

        What lies before the alignment holds is left out: its place on the other clock is not known.
        Raises ValueError when the alignment is not from this timeline's clock.
        """
        if alignment.source != self.clock:
            raise ValueError(f"the timeline is on {self.clock.name}, the alignment is from {alignment.source.name}")
        shift = alignment.translate
        events = [event for event in self.events if alignment.covers(event.t_ns)]
        spans = [span for span in self.spans if alignment.covers(span.start_ns)]
        return Timeline(
            alignment.target,
            tuple(replace(event, t_ns=shift(event.t_ns)) for event in events),
            tuple(replace(span, start_ns=shift(span.start_ns), end_ns=shift(span.end_ns)) for span in spans),
        )

    def merge(self, other: "Timeline") -> "Timeline":
        """Return both timelines as one. Raises ValueError when they are on different clocks."""
        if other.clock != self.clock:
            raise ValueError(f"cannot merge {other.clock.name} into {self.clock.name}: align the clocks first")
        return Timeline.of(self.clock, self.events + other.events, self.spans + other.spans)
