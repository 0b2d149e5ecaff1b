"""Lines without a time, put between those that have one: each behind the lines that it stood behind in its file."""

from bisect import bisect_right
from collections.abc import Sequence

from bootlab.timeline.event import Event
from bootlab.timeline.recording import MOST_SPANS, TextLine

LONGEST_TEXT = 4096
"""A line is cut here where it is kept."""


def in_place(lines: Sequence[tuple[int | None, str]]) -> tuple[TextLine, ...]:
    """Return the lines without a time, of (t_ns or None, text) in the order of their file.

    Their places count the events of a timeline that was made of all others, of which MOST_SPANS are kept.
    """
    if all(t_ns is not None for t_ns, _ in lines):
        return ()
    times = [t_ns for t_ns, _ in lines if t_ns is not None][:MOST_SPANS]
    order = sorted(range(len(times)), key=times.__getitem__)
    place = [0] * len(times)
    for position, index in enumerate(order):
        place[index] = position + 1
    found: list[TextLine] = []
    seen = after = 0
    for t_ns, text in lines:
        if t_ns is not None:
            after = place[seen] if seen < len(place) else len(place)
            seen += 1
        elif len(found) < MOST_SPANS:
            found.append(TextLine(after, text[:LONGEST_TEXT]))
    return tuple(sorted(found, key=lambda line: line.after))


def moved(lines: Sequence[TextLine], kept: Sequence[bool]) -> tuple[TextLine, ...]:
    """Return lines for a timeline of which only some events are kept."""
    before = [0]
    for one in kept:
        before.append(before[-1] + one)
    return tuple(TextLine(before[min(line.after, len(kept))], line.text) for line in lines)


def behind_times(events: Sequence[Event], lines: Sequence[TextLine]) -> list[tuple[int | None, str]]:
    """Return each line with the time of the event before it; None before the first."""
    return [(events[line.after - 1].t_ns if 0 < line.after <= len(events) else None, line.text) for line in lines]


def behind_events(events: Sequence[Event], lines: Sequence[tuple[int | None, str]]) -> tuple[TextLine, ...]:
    """Return lines as `behind_times` gives them in their places among events, which are in the order of time."""
    times = [event.t_ns for event in events]
    found = [TextLine(0 if t_ns is None else bisect_right(times, t_ns), text) for t_ns, text in lines[:MOST_SPANS]]
    return tuple(sorted(found, key=lambda line: line.after))
