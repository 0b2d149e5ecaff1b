"""The rows that a recording's spans stand in, for viewers that nest what stands in one row: nothing may cross there.

What belongs to a thread stands in the thread's row, with what it lies in. Phases, units and other things that run
beside each other have a row for each that runs at the same time, and nest nowhere.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bootlab.report.recording.words import title_of
from bootlab.timeline.event import Span
from bootlab.timeline.recording import Recording


@dataclass(frozen=True, slots=True)
class ExportRow:
    """Spans that nest, or follow each other, in the order in which they begin; the outer one first."""

    title: str
    thread: bool
    """Whether it is a thread's."""
    spans: tuple[Span, ...]


def rows_of(one: Recording) -> list[ExportRow]:
    """Return the rows of a recording: first what has no thread, then its threads. Every span is in one of them."""
    loose: dict[str, list[Span]] = {}
    threads: dict[str, list[Span]] = {}
    for span in (*one.phases, *one.timeline.spans):
        if span.track:
            threads.setdefault(span.track, []).append(span)
        else:
            loose.setdefault(span.source, []).append(span)
    rows = []
    for source, spans in loose.items():
        title = "Phases" if source == "phase" else title_of(source)
        rows += [ExportRow(title, False, tuple(row)) for row in _apart(spans, nesting=False)]
    for track, spans in threads.items():
        rows += [ExportRow(track, True, tuple(row)) for row in _apart(spans, nesting=True)]
    return rows


def edges_of(row: ExportRow) -> Iterator[tuple[int, Span, bool]]:
    """Yield (time, span, whether it begins) in the order of time, so that every end is that of the last one open."""
    open_spans: list[Span] = []
    for span in row.spans:
        while open_spans and _is_over(open_spans[-1].end_ns, span, nesting=row.thread):
            ended = open_spans.pop()
            yield ended.end_ns, ended, False
        yield span.start_ns, span, True
        open_spans.append(span)
    for span in reversed(open_spans):
        yield span.end_ns, span, False


def _is_over(end_ns: int, span: Span, *, nesting: bool) -> bool:
    # A span without length at the very end of another one of its thread may lie in it.
    return end_ns <= span.start_ns and (not nesting or end_ns < span.end_ns)


def _apart(spans: Iterable[Span], *, nesting: bool) -> list[list[Span]]:
    # A damaged recording may hold spans of one thread that cross: the later of two goes to a row of its own.
    rows: list[list[Span]] = []
    ends: list[list[int]] = []
    for span in sorted(spans, key=lambda span: (span.start_ns, -span.end_ns)):
        number = next((number for number, open_until in enumerate(ends) if _fits(span, open_until, nesting)), len(rows))
        if number == len(rows):
            rows.append([])
            ends.append([])
        rows[number].append(span)
        ends[number].append(span.end_ns)
    return rows


def _fits(span: Span, open_until: list[int], nesting: bool) -> bool:
    while open_until and _is_over(open_until[-1], span, nesting=nesting):
        open_until.pop()
    return not open_until or (nesting and span.end_ns <= open_until[-1])
