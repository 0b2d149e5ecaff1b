"""Slim Bootloader's performance table -> Recording: `perf` in its shell, or its debug console before the kernel starts.

     Id   | Time (ms)  | Delta (ms) | Description
    ------+------------+------------+---------------------------
     1000 |       2 ms |       2 ms | Reset vector
     2030 |     229 ms |      32 ms | FSP MemoryInit

Time runs from the reset of the processor; Delta is the time since the row above, so each row is named by what ended
there. `perf -d` prints microseconds and calls them ms all the same. A second table is that of the security engine.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.kernel.line import has_kernel_line
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.reading.text_in_place import LONGEST_TEXT, in_place
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import MOST_SPANS, Length, Recording
from bootlab.timeline.timeline import Timeline

FORMAT: Final = "slim-bootloader"
_ROW = re.compile(
    r"\s{0,9}(?P<id>[0-9A-Fa-f]{1,4}) \|\s{1,20}(?P<time>\d{1,10}) ms \|\s{1,20}(?P<delta>-?\d{1,10}) ms"
    r"(?: \| (?P<name>.{0,200}))?\s{0,9}"
)
_HEAD = re.compile(r"\s{0,9}Id\s{1,9}\|\s{1,9}Time \(ms\)\s{1,9}\|\s{1,9}Delta \(ms\)\s{0,9}(?:\| Description)?\s{0,9}")
_RULE = re.compile(r"\s{0,9}-{4,8}\+-{8,20}\+-{8,20}(?:\+-{4,40})?\s{0,9}")
_TITLE = re.compile(r"\s{0,9}(?:(?P<whose>Loader|CSME) Performance Info|={8,40})\s{0,9}")
_IN_MICROSECONDS = re.compile(r"\s{0,9}(?:Shell> ?)perf -d\s{0,9}")
_STAGES: Final = {"1": "Stage 1A", "2": "Stage 1B", "3": "Stage 2", "4": "OS loader"}
"""The first digit of a row's id is whose row it is."""
_NO_BOOT_MS: Final = 600_000


@dataclass
class _Tables:
    rows: list[tuple[str, int, int, str]] = field(default_factory=list)
    """Of the loader: id, time, delta, description."""
    engine: list[tuple[str, int, str]] = field(default_factory=list)
    """Of the security engine: id, time, description."""
    in_engine: bool = False
    microseconds: bool = False
    lines: list[tuple[int | None, str]] = field(default_factory=list)


def recognise(head: Head) -> str:
    """Return the table's head, of a console without a kernel's log, which would say more."""
    told = next((row for row in head.rows if _HEAD.fullmatch(row)), "")
    return told if told and not has_kernel_line(head) else ""


def is_head(line: str) -> bool:
    """Say whether a line is the head of the table."""
    return _HEAD.fullmatch(line) is not None


def read(source: Source, options: Options) -> Recording:
    """Return the loader's moments and stages. Raises FormatError where the table has no row."""
    found = _Tables()
    for _, row in source.rows():
        _take(row, found, source)
    if not found.rows:
        raise source.expected("rows such as ` 2030 |     229 ms |      32 ms | FSP MemoryInit`")
    unit_ns = 1_000 if found.microseconds else 1_000_000
    return Recording(
        format=IMPORTER.name,
        tool="Slim Bootloader",
        timeline=Timeline.of(
            Clock("loader", unit_ns),
            [Event(time * unit_ns, "loader", name) for _, time, _, name in found.rows],
            [
                Span((time - delta) * unit_ns, time * unit_ns, "until", name, about=f"id {number}")
                for number, time, delta, name in found.rows
                if 0 <= delta <= time
            ],
        ),
        about_clock="the processor's counter, which runs from its reset",
        phases=tuple(_phases(found.rows, unit_ns)),
        lengths=tuple(_engine(found.engine)),
        text=in_place([(None if time is None else time * unit_ns, text) for time, text in found.lines]),
        notes=tuple(_notes(found)),
    )


def _take(row: str, found: _Tables, source: Source) -> None:
    tally = source.tally
    if (title := _TITLE.fullmatch(row)) is not None:
        tally.aside("titles")
        found.in_engine = title["whose"] == "CSME" or (title["whose"] is None and found.in_engine)
    elif _HEAD.fullmatch(row) or _RULE.fullmatch(row):
        tally.aside("heads and rules")
    elif (cells := _ROW.fullmatch(row)) is None or len(found.rows) >= MOST_SPANS:
        found.microseconds = found.microseconds or _IN_MICROSECONDS.fullmatch(row) is not None
        if row.strip():
            tally.text("other lines of the console")
            found.lines.append((None, row[:LONGEST_TEXT]))
    else:
        name, time = (cells["name"] or "").strip() or f"id {cells['id']}", int(cells["time"])
        if found.in_engine:
            tally.used("moments of the security engine")
            found.engine.append((cells["id"], time, name))
        elif found.rows and time < found.rows[-1][1]:
            tally.leave_out("earlier than the row above it: of another boot, or damaged")
        else:
            tally.used("moments")
            found.rows.append((cells["id"].upper(), time, int(cells["delta"]), name))
            found.lines.append((time, ""))


def _phases(rows: Sequence[tuple[str, int, int, str]], unit_ns: int) -> Iterator[Span]:
    # A row's time is when something was done, so a stage lasts up to its own last row.
    before = 0
    for place, (number, time, _, _) in enumerate(rows):
        stage = _stage(number)
        if (place + 1 == len(rows) or _stage(rows[place + 1][0]) != stage) and time > before:
            yield Span(before * unit_ns, time * unit_ns, "phase", stage)
            before = time


def _stage(number: str) -> str:
    return _STAGES.get(number[:1], "other") if len(number) == 4 else "other"


def _engine(rows: Sequence[tuple[str, int, str]]) -> Iterator[Length]:
    for (_, before, _), (_, time, name) in zip(rows, rows[1:], strict=False):
        if time >= before:
            yield Length((time - before) * 1_000_000, "security engine", name, f"until its own {time} ms")


def _notes(found: _Tables) -> Iterator[str]:
    if found.microseconds:
        yield "`perf -d` counts in microseconds, although its table says ms: read so."
    elif found.rows[-1][1] > _NO_BOOT_MS:
        yield (
            f"The last row is at {found.rows[-1][1]} ms: `perf -d` prints microseconds under that name; put its line "
            "`Shell> perf -d` before the table if it was that."
        )
    uneven = sum(
        delta != time - before
        for (_, before, _, _), (_, time, delta, _) in zip(found.rows, found.rows[1:], strict=False)
    )
    if uneven:
        yield f"Of {uneven} rows Delta is not the difference to the row above: rows are missing, or damaged."


IMPORTER: Final = Importer(
    FORMAT, "Slim Bootloader's performance table: `perf` in its shell, or its debug console", recognise, read
)
