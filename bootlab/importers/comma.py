"""comma's boot table (analyze-boot-time.py of its AGNOS) -> Recording: from power-on to openpilot, part by part.

    ------  ----  -----  ---
    kernel  3.59  11.19  20%
    onroad  ?     ?      -

Each row is a part's length in seconds, the time it ends at, and its share of the whole. Power-on, XBL and ABL are
constants in that script, not measured in the boot at hand; a part that began before the one above it ended is below 0.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Head, Source
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import MOST_SPANS, Length, Recording
from bootlab.timeline.timeline import Timeline

POWER_ON: Final = Clock("power-on", 10_000_000)
_RULE = re.compile(r"-{2,40}(?:  -{1,20}){3}\s{0,9}")
_ROW = re.compile(
    r"(?P<name>\S.{0,60}?)\s{2,60}(?P<took>-?\d{1,9}(?:\.\d{1,6})?|\?)\s{2,20}(?P<end>-?\d{1,9}(?:\.\d{1,6})?|\?)"
    r"\s{2,20}(?P<share>-?\d{1,5}%|-)\s{0,9}"
)
_NOT_MEASURED: Final = ("PON", "XBL", "ABL")


@dataclass(frozen=True, slots=True)
class CommaPart:
    """One row: how long a part took and when it ended."""

    name: str
    took_ns: int
    end_ns: int


def recognise(head: Head) -> str:
    """Return the first row behind the table's upper rule."""
    for place, row in enumerate(head.rows[:200]):
        if _RULE.fullmatch(row) and (below := head.rows[place + 1 : place + 4]):
            found = [line for line in below if (match := _ROW.fullmatch(line)) and match["share"] != "-"]
            if len(found) >= min(len(below), 2):
                return found[0]
    return ""


def read(source: Source, options: Options) -> Recording:
    """Return the parts as phases. Raises FormatError when no row has figures."""
    parts: list[CommaPart] = []
    unknown: list[str] = []
    begun = False
    for _, row in source.rows():
        found = _ROW.fullmatch(row)
        if _RULE.fullmatch(row):
            source.tally.aside("rules")
            begun = True
        elif found is None or not begun:
            if row.strip() and not begun:
                source.tally.aside("lines before the table")
        elif len(parts) + len(unknown) >= MOST_SPANS:
            source.tally.leave_out(f"more than {MOST_SPANS} rows")
        elif "?" in (found["took"], found["end"]):
            source.tally.aside("parts without figures")
            unknown.append(found["name"])
        else:
            source.tally.used("parts")
            parts.append(CommaPart(found["name"], _ns(found["took"]), _ns(found["end"])))
    if not parts:
        raise source.expected("rows such as `kernel  3.59  11.19  20%` under a rule")
    return Recording(
        format=IMPORTER.name,
        tool="comma's analyze-boot-time.py",
        timeline=Timeline.of(POWER_ON, [Event(max(part.end_ns, 0), "end of", part.name) for part in parts]),
        about_clock="power-on by the table's own sums, in hundredths of a second",
        phases=tuple(_phases(parts)),
        lengths=tuple(
            Length(-part.took_ns, "began before the part above had ended", part.name)
            for part in parts
            if part.took_ns < 0
        ),
        notes=tuple(_notes(parts, unknown)),
    )


def _ns(seconds: str) -> int:
    whole, _, part = seconds.lstrip("-").partition(".")
    ns = int(whole) * 1_000_000_000 + int(part.ljust(9, "0"))
    return -ns if seconds.startswith("-") else ns


def _phases(parts: Sequence[CommaPart]) -> Iterator[Span]:
    before = 0
    for part in parts:
        if part.end_ns > before:
            yield Span(before, part.end_ns, "phase", part.name)
            before = part.end_ns


def _notes(parts: Sequence[CommaPart], unknown: Sequence[str]) -> Iterator[str]:
    if fixed := [part.name for part in parts if part.name in _NOT_MEASURED]:
        yield f"{', '.join(fixed)}: constants in the script that made the table, not measured in this boot."
    early = [part.name for part in parts if part.took_ns < 0]
    if early:
        yield f"{', '.join(early)}: began before the part above had ended; the table gives a length below zero."
    if unknown:
        yield f"{', '.join(unknown)}: the table has no figure."


IMPORTER: Final = Importer(
    "comma-boot-time", "comma's table of a boot, from power-on to openpilot (analyze-boot-time.py)", recognise, read
)
