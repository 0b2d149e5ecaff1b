"""U-Boot's bootstage -> Recording: what `bootstage report` prints, and what `bootstage stash` leaves in memory.

Format: common/bootstage.c of U-Boot 2025.10. The report is looked for anywhere in a console, behind host stamps too.
"""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bootlab.errors import InputError
from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import FormatError, Head, Source
from bootlab.importers.reading.tally import Tally
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.line_account import Fate
from bootlab.timeline.recording import MOST_SPANS, Length, Recording, TextLine
from bootlab.timeline.timeline import Timeline

FORMAT: Final = "bootstage"
BOOTSTAGE: Final = Clock("u-boot timer", 1_000)
"""timer_get_boot_us(): microseconds since U-Boot's first program (SPL, where there is one) started its timer."""
MAGIC: Final = 0xB00757A3

_HEAD = re.compile(r"Timer summary in microseconds(?: \(\d+ records\))?:")
_ACCUMULATED = re.compile(r"Accumulated time:")
_OVERFLOW = re.compile(r"Overflowed internal boot id table by (?P<lost>\d{1,9}) entries")
# print_grouped_ull() sets its commas from the left, so from 1000 s on the last group is short: 123,456,789,0.
_FIGURE = r"\d{1,3}(?:,\d{1,3}){0,6}"
_MARK = re.compile(rf" *(?P<mark>{_FIGURE}) +{_FIGURE}(?:  (?P<name>.*))?")
_SUM = re.compile(rf" *(?P<sum>{_FIGURE})(?:  (?P<name>.*))?")
# [0.702447 0.670621] from grabserial; [    1.234567] from a host that stamps like a kernel.
_HOST_STAMP = re.compile(r"(?:[^\s\[]\S{0,40} )?\[[\d.: ]{3,40}\] ?")
_KERNEL = re.compile(r"(?:<\d+>)?\[ *\d+\.\d{6}\](?:\[ *[TC]\d+\])? ")
_TITLE = re.compile(r"\s*Mark +Elapsed +Stage")

_LONGEST_ROW = 400
_HEADER_WORDS = 5
# struct bootstage_record: ulong, u32, pointer, int, enum, with the padding of a 32-bit and of a 64-bit processor.
_RECORDS = {20: "IIIiI", 32: "QI4xQiI"}
_MOST_RECORDS = 65_536


@dataclass(frozen=True, slots=True)
class Stage:
    """A moment: U-Boot got there `t_ns` after its timer started. An unnamed stage is called by its number."""

    name: str
    t_ns: int


@dataclass(frozen=True, slots=True)
class AccumulatedTime:
    """How long something took, summed up over all its calls; when they were is not kept."""

    name: str
    total_ns: int


@dataclass(frozen=True, slots=True)
class Bootstage:
    """What one report or stash holds."""

    stages: tuple[Stage, ...]
    """In order of time."""
    accumulated: tuple[AccumulatedTime, ...]
    lost: int
    """Records that had no room in the table (CONFIG_BOOTSTAGE_RECORD_COUNT)."""
    earlier_reports: int
    """Further reports before this one in the same text; the last one is read, as it holds the most."""
    console: tuple[str, ...] = ()
    """The lines around the report."""

    def timeline(self) -> Timeline:
        """Return the stages as events (source `u-boot`), and what led from one to the next as spans (`until`)."""
        return Timeline.of(
            BOOTSTAGE,
            [Event(stage.t_ns, "u-boot", stage.name) for stage in self.stages],
            [
                Span(one.t_ns, other.t_ns, "until", other.name)
                for one, other in zip(self.stages, self.stages[1:], strict=False)
                if other.t_ns > one.t_ns
            ],
        )


def recognise(head: Head) -> str:
    """Return what tells a stash, or the title of a report on a console without a kernel's log, which would say more."""
    if is_stash(head.data):
        return "the magic b00757a3 of a stash at its 13th byte"
    told = next((row for row in head.rows if _HEAD.search(row)), "")
    if not told or any(_KERNEL.match(row) for row in head.rows) or any(map(_KERNEL.match, head.further_rows)):
        return ""
    return told


def read(source: Source, options: Options) -> Recording:
    """Return a report's or a stash's stages. Raises FormatError when there are none."""
    try:
        found = parse_stash(source.whole()) if is_stash(source.head.data) else parse_report(source.text(), source.tally)
    except InputError as error:
        raise FormatError(f"{source.name}: {error.message}", hint=error.hint) from error
    notes = []
    if found.lost:
        notes.append(f"{found.lost} stages had no room: CONFIG_BOOTSTAGE_RECORD_COUNT is too small.")
    if found.earlier_reports:
        notes.append(f"{found.earlier_reports} earlier reports are in the same console; this is the last one.")
    timeline = found.timeline()
    return Recording(
        format=IMPORTER.name,
        tool="U-Boot bootstage",
        timeline=Timeline(timeline.clock, timeline.events[:MOST_SPANS], timeline.spans[:MOST_SPANS]),
        about_clock="U-Boot's timer; what ran before its first program is not in it",
        phases=(Span(0, found.stages[-1].t_ns, "phase", "U-Boot"),) if found.stages else (),
        lengths=tuple(Length(one.total_ns, "accumulated", one.name) for one in found.accumulated)[:MOST_SPANS],
        text=tuple(TextLine(0, row) for row in found.console if row.strip())[:MOST_SPANS],
        notes=tuple(notes),
    )


def has_report(text: str) -> bool:
    """Say whether a text holds the first line of a report."""
    return _HEAD.search(text) is not None


def parse_report(text: str, tally: Tally | None = None) -> Bootstage:
    """Return the last `bootstage report` of a console. Raises InputError when there is none."""
    rows = [_unstamped(row[:_LONGEST_ROW].rstrip("\r")) for row in text.split("\n")]
    if not text or text.endswith("\n"):
        rows.pop()
    tally = tally or Tally()
    starts = [index for index, row in enumerate(rows) if _HEAD.search(row)]
    if not starts:
        raise InputError(
            'no "Timer summary in microseconds" in it',
            hint="U-Boot prints it with CONFIG_BOOTSTAGE_REPORT, and at `bootstage report`",
        )
    stages, accumulated, lost, length = _read_table(rows[starts[-1] + 1 :])
    tally.add(Fate.USED, "stages and sums of the report", len(stages) + len(accumulated), first=rows[starts[-1]])
    tally.add(Fate.ASIDE, "titles of the report", length + 1 - len(stages) - len(accumulated))
    console = [*rows[: starts[-1]], *rows[starts[-1] + 1 + length :]]
    tally.add(Fate.TEXT, "the console around it", len(console), first=next((row for row in console if row.strip()), ""))
    if not stages:
        raise InputError("the bootstage report has no stages", hint="was the console cut off behind its first line?")
    return Bootstage(tuple(stages), tuple(accumulated), lost, len(starts) - 1, tuple(console))


def _unstamped(row: str) -> str:
    stamp = _HOST_STAMP.match(row)
    return row if stamp is None else row[stamp.end() :]


def _read_table(rows: list[str]) -> tuple[list[Stage], list[AccumulatedTime], int, int]:
    # Stages, sums, how many stages had no room, and how many rows the table has.
    stages: list[Stage] = []
    accumulated: list[AccumulatedTime] = []
    lost, summing, length = 0, False, 0
    for number, row in enumerate(rows, 1):
        if _TITLE.match(row) or not row.strip():
            length = number if row.strip() else length
            continue
        if (over := _OVERFLOW.search(row)) is not None:
            lost = int(over["lost"])
        elif _ACCUMULATED.match(row):
            summing = True
        elif summing and (found := _SUM.fullmatch(row)) is not None:
            accumulated.append(AccumulatedTime(_name(found["name"], len(accumulated)), _microseconds(found["sum"])))
        elif not summing and (found := _MARK.fullmatch(row)) is not None:
            stages.append(Stage(_name(found["name"], len(stages)), _microseconds(found["mark"])))
        elif stages and not row.startswith("Please increase"):
            break
        length = number
    return stages, accumulated, lost, length


def _name(found: str | None, number: int) -> str:
    return (found or "").strip() or f"stage {number}"


def _microseconds(figure: str) -> int:
    return int(figure.replace(",", "")) * 1_000


def is_stash(data: bytes) -> bool:
    """Say whether `data` begins with a bootstage stash, of either byte order."""
    return len(data) >= 4 * _HEADER_WORDS and data[12:16] in (MAGIC.to_bytes(4, "little"), MAGIC.to_bytes(4, "big"))


def parse_stash(data: bytes) -> Bootstage:
    """Return what `bootstage stash` wrote, copied out of memory from its first byte on. Raises InputError.

    The layout follows the processor that wrote it: 32 or 64 bits, either byte order. Which one fits is what is taken.
    """
    if not is_stash(data):
        raise InputError("no bootstage stash: the magic b00757a3 is not at its 13th byte")
    order = "<" if data[12:16] == MAGIC.to_bytes(4, "little") else ">"
    version, count, size, _, _ = struct.unpack_from(f"{order}{_HEADER_WORDS}I", data)
    if version:
        raise InputError(f"bootstage stash of version {version}: only version 0 is known")
    if not size or size > len(data):
        raise InputError(f"the bootstage stash says it has {size} bytes, the file has {len(data)}")
    for width, layout in _RECORDS.items():
        if (records := _read_records(data[:size], order + layout, width, count)) is not None:
            return _from_records(records)
    raise InputError(f"the bootstage stash's {count} records do not fit into its {size} bytes")


def _read_records(data: bytes, layout: str, width: int, count: int) -> list[tuple[str, int, int, int]] | None:
    # Name, time, start and number of each record; None when names do not fill the rest exactly.
    start = 4 * _HEADER_WORDS
    if count > _MOST_RECORDS or start + count * (width + 1) > len(data):
        return None
    names = data[start + count * width :].split(b"\0")
    if len(names) != count + 1 or names[-1]:
        return None
    form = struct.Struct(layout)
    records = []
    for index, name in enumerate(names[:-1]):
        time_us, start_us, _, _, number = form.unpack_from(data, start + index * width)
        records.append((name.decode(errors="replace"), time_us, start_us, number))
    return records


def _from_records(records: list[tuple[str, int, int, int]]) -> Bootstage:
    return Bootstage(tuple(_stages(records)), tuple(_sums(records)), 0, 0)


def _stages(records: list[tuple[str, int, int, int]]) -> Iterator[Stage]:
    # As bootstage_report() does: by time, and the number 0 (reset) only once.
    first = True
    for name, time_us, start_us, number in sorted(records, key=lambda record: record[1]):
        if start_us or (not number and not first):
            continue
        first = first and bool(number)
        yield Stage(name, time_us * 1_000)


def _sums(records: list[tuple[str, int, int, int]]) -> Iterator[AccumulatedTime]:
    for name, time_us, start_us, _ in sorted(records, key=lambda record: record[1]):
        if start_us:
            yield AccumulatedTime(name, time_us * 1_000)


IMPORTER: Final = Importer(
    name=FORMAT, title="U-Boot: a console with bootstage report, or memory with a bootstage stash",
    recognise=recognise, read=read,
)  # fmt: skip
