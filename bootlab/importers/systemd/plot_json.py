"""`systemd-analyze plot --json=short` (or pretty), or `--table` -> Recording.

By src/analyze/analyze-plot.c of systemd 257: microseconds on CLOCK_MONOTONIC. The document is followed by a line
`96 Units listed.`, which no JSON parser takes. It has no phases: `systemctl show` has them, and is laid over it without
loss. A unit that started after the boot was finished has `activated` cut to the finish but not `activating`. The table
has the same columns, in milliseconds that are cut off.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.reading.timespan import parse_timespan
from bootlab.importers.systemd.units import ABOUT_MONOTONIC, MONOTONIC, MONOTONIC_MS
from bootlab.timeline.event import Event, Span
from bootlab.timeline.line_account import Fate
from bootlab.timeline.recording import MOST_SPANS, Recording
from bootlab.timeline.timeline import Timeline

_FIGURES: Final = ("activated", "activating", "time", "deactivated", "deactivating")
_HEADS: Final = ["NAME", *(figure.upper() for figure in _FIGURES)]
_MOST_US: Final = 1 << 53

_Rows = list[tuple[str, dict[str, int]]]


def recognise(head: Head) -> str:
    """Return how a list of units with plot's keys begins, or the table's heads."""
    start = head.data[:4096]
    if head.rows and head.rows[0].split() == _HEADS:
        return head.rows[0]
    told = start.lstrip()[:1] == b"[" and b'"name"' in start and b'"activating"' in start
    return 'a JSON list with "name" and "activating" in it' if told else ""


def read(source: Source, options: Options) -> Recording:
    """Return the units. Raises FormatError that names the unit for what is not what plot writes."""
    text = source.text()
    as_table = text.split("\n", 1)[0].split() == _HEADS
    rows = _table(source, text) if as_table else _document(source, text)
    finished_us = max((row["activated"] for _, row in rows if row["activated"] >= row["activating"]), default=0)
    spans, events = list(_spans(rows, finished_us)), list(_events(rows))
    form = "--table" if as_table else "--json"
    notes = [f"plot {form} has no phases; systemctl show has them, and is laid over it without loss."]
    late = sum(row["activating"] > finished_us for _, row in rows)
    if late:
        notes.append(f"{late} units started after the boot had finished: systemd keeps only the last start of a unit.")
    return Recording(
        format=IMPORTER.name,
        tool=f"systemd-analyze plot {form}",
        timeline=Timeline.of(MONOTONIC_MS if as_table else MONOTONIC, events[:MOST_SPANS], spans[:MOST_SPANS]),
        about_clock=ABOUT_MONOTONIC,
        notes=tuple(notes),
    )


def _document(source: Source, text: str) -> _Rows:
    try:
        units, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError) as error:
        row = getattr(error, "lineno", 1)
        raise source.expected("a JSON list of units", row=row, got=text.lstrip()[:60]) from error
    if not isinstance(units, list):
        raise source.expected("a JSON list of units", row=1, got=text.lstrip()[:60])
    source.tally.of_records("units", len(units))
    source.tally.add(Fate.USED, "units", len(units))
    return [_figures(source, number, unit) for number, unit in enumerate(units, 1)]


def _table(source: Source, text: str) -> _Rows:
    # Columns are as wide as what is in them, and times hold blanks, so the heads tell where one begins.
    head, *lines = text.split("\n")
    starts = [found.start() for found in re.finditer(r"\S+", head)]
    rows: _Rows = []
    source.tally.add(Fate.ASIDE, "the table's heads", first=head)
    behind = lines[next((index for index, line in enumerate(lines) if not line.strip()), len(lines)) :]
    # `96 Units listed.` is behind an empty line; what ends the last line is none.
    for line in behind if behind and behind[-1] else behind[:-1]:
        source.tally.add(Fate.ASIDE, "what is behind the table", first=line)
    for number, line in enumerate(lines, 2):
        if not line.strip():
            break
        source.tally.add(Fate.USED, "units", first=line)
        name, *cells = (line[start:end].strip() for start, end in zip(starts, [*starts[1:], len(line)], strict=True))
        spans = [parse_timespan(cell) for cell in cells]
        if not name or None in spans:
            raise source.expected("a unit and five times such as `5min 33.316s`", row=number, got=line)
        rows.append((name, dict(zip(_FIGURES, ((span or 0) // 1000 for span in spans), strict=True))))
    return rows


def _figures(source: Source, number: int, unit: Any) -> tuple[str, dict[str, int]]:
    if not isinstance(unit, dict) or not isinstance(unit.get("name"), str):
        raise source.expected(f"unit {number} to be an object with a name", got=str(unit))
    figures = {}
    for key in _FIGURES:
        value = unit.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST_US:
            raise source.expected(f"{key} of {ascii(unit['name'][:80])} to be microseconds", got=str(value))
        figures[key] = value
    return unit["name"], figures


def _spans(rows: _Rows, finished_us: int) -> Iterator[Span]:
    for name, row in rows:
        if row["time"]:
            start_ns, took_ns = row["activating"] * 1000, row["time"] * 1000
            about = "after the boot had finished" if row["activating"] > finished_us else ""
            yield Span(start_ns, start_ns + took_ns, "unit", name, about=about)


def _events(rows: _Rows) -> Iterator[Event]:
    for name, row in rows:
        if row["activated"] and row["activated"] >= row["activating"]:
            yield Event(row["activated"] * 1000, "systemd", f"active {name}")


IMPORTER: Final = Importer(
    "systemd-plot", "systemd-analyze plot --json=short, --json=pretty or --table", recognise, read
)
