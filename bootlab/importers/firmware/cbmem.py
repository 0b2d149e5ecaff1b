"""coreboot's timestamps -> Recording: what `cbmem -t` and `cbmem -T` print, and the table by `cbmem -r 54494d45`.

Formats: util/cbmem/cbmem.c and src/commonlib/include/commonlib/timestamp_serialized.h of coreboot 25.09.
"""

import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.reading.tally import Tally
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import MOST_SPANS, Recording
from bootlab.timeline.timeline import Timeline

COREBOOT: Final = Clock("coreboot", 1_000)

_HEAD = re.compile(r"(?P<count>\d{1,6}) entries total:\s*")
_TOTAL = re.compile(r"Total Time: ")
_LOOKED_AT: Final = 40
# Numbers are as wide as the widest of them, so up to three or four blanks come first.
# "   0:1st timestamp                                     155,183", then "  11:start of bootblock   155,191 (8)".
_FIGURE = r"\d{1,3}(?:,\d{3}){0,6}"
_ROW = re.compile(rf" {{0,9}}(?P<id>\d{{1,10}}):(?P<name>.*?) *(?P<us>{_FIGURE})(?: \((?P<step>{_FIGURE})\))?")
_LONGEST_ROW = 400
# cbmem -T: id, absolute, relative, name, with tabs between.
_PARSEABLE = re.compile(r"(?P<id>\d{1,10})\t(?P<us>\d{1,20})\t(?P<step>\d{1,20})\t(?P<name>.*)")

_TABLE = struct.Struct("<QHHI")
_ENTRY = struct.Struct("<Iq")
_FASTEST_MHZ = 10_000
_PAST_LAST_NUMBER = 2_000
_STAGES: Final = {
    11: "bootblock", 5: "verified boot", 1: "romstage", 100: "postcar", 10: "ramstage", 90: "payload",
    1000: "depthcharge", 1101: "kernel",
}  # fmt: skip
"""The stamps that begin a stage, by their numbers."""
# Names of the entries that every machine has; the other 150 are known by number when the table is read raw.
_NAMES: Final = {
    0: "1st timestamp", 1: "start of romstage", 2: "before RAM initialization", 3: "after RAM initialization",
    4: "end of romstage", 5: "start of verified boot", 6: "end of verified boot", 8: "starting to load ramstage",
    9: "finished loading ramstage", 10: "start of ramstage", 11: "start of bootblock", 12: "end of bootblock",
    13: "starting to load romstage", 14: "finished loading romstage",
    15: "starting LZMA decompress (ignore for x86)", 16: "finished LZMA decompress (ignore for x86)",
    17: "starting LZ4 decompress (ignore for x86)", 18: "finished LZ4 decompress (ignore for x86)",
    30: "early chipset initialization",
    31: "device enumeration", 40: "device configuration", 50: "device enable", 60: "device initialization",
    65: "Option ROM initialization", 66: "Option ROM copy done", 67: "Option ROM run done", 70: "device setup done",
    75: "cbmem post", 80: "write tables", 85: "finalize chips", 90: "starting to load payload", 98: "ACPI wake jump",
    99: "selfboot jump", 100: "start of postcar", 101: "end of postcar", 1000: "depthcharge start",
    1101: "jumping to kernel",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CbmemStamp:
    """One moment of the firmware. Names change between releases of coreboot, numbers do not."""

    number: int
    name: str
    t_ns: int


def recognise(head: Head) -> str:
    """Return how `cbmem -t` or `cbmem -T` begins, or that it is as long as the table that it begins as."""
    rows = [row[:_LONGEST_ROW] for row in head.rows if row.strip()][:_LOOKED_AT]
    # A prompt may stand before it, or its head be cut off.
    if (title := next((row for row in rows if _HEAD.fullmatch(row)), None)) is not None:
        return title
    told = [row for row in rows if _PARSEABLE.fullmatch(row) or _ROW.fullmatch(row)]
    if told and (told[0] == rows[0] or len(told) >= len(rows) / 2) and len(told) >= min(len(rows), 3):
        return told[0]
    return "the bytes of a timestamp table" if _is_table(head.data) else ""


def read(source: Source, options: Options) -> Recording:
    """Return the stamps of one boot. Raises FormatError when there are none."""
    notes: list[str] = []
    stated: list[int] = []
    if _is_table(source.head.data):
        ticks_per_us = options.tsc_hz // 1_000_000 if options.tsc_hz else None
        stamps, cycles = parse_table(source.whole(), ticks_per_us=ticks_per_us)
        if cycles:
            notes.append(
                "The table does not say how fast its counter ran, so all times are cycles: "
                "--tsc-frequency gives the rate."
            )
    else:
        stamps, cycles = parse((row for _, row in source.rows()), source.tally, stated), False
    if not stamps:
        raise source.expected("the timestamps of cbmem -t, cbmem -T, or a raw timestamp table")
    # The first stamp, whose number is 0, is the table's base and no entry.
    missing = max(stated, default=0) - sum(stamp.number != 0 for stamp in stamps)
    if missing > 0:
        notes.append(f"The head states {max(stated)} entries, and {missing} of them are missing.")
    clock = Clock("coreboot", 1, unit="cycles") if cycles else COREBOOT
    spans = [
        Span(one.t_ns, other.t_ns, "until", other.name, about=f"timestamp {other.number}")
        for one, other in zip(stamps, stamps[1:], strict=False)
        if other.t_ns > one.t_ns
    ]
    events = [Event(stamp.t_ns, "coreboot", stamp.name) for stamp in stamps]
    return Recording(
        format=IMPORTER.name,
        tool="coreboot cbmem",
        timeline=Timeline.of(clock, events[:MOST_SPANS], spans[:MOST_SPANS]),
        about_clock="coreboot's counter; on x86 that is the processor's, which runs since its reset",
        phases=tuple(_phases(stamps)),
        notes=tuple(notes),
    )


def parse(rows: Iterable[str], tally: Tally, stated: list[int]) -> list[CbmemStamp]:
    """Return the stamps among the rows of `cbmem -t` or `cbmem -T`, earliest first.

    `stated` is given the numbers of entries that heads state.
    """
    stamps = []
    for row in rows:
        if len(row) > _LONGEST_ROW:
            continue
        found = _PARSEABLE.fullmatch(row) or _ROW.fullmatch(row)
        if found is not None:
            tally.used("stamps")
            name = found["name"].strip() or f"timestamp {found['id']}"
            stamps.append(CbmemStamp(int(found["id"]), name, int(found["us"].replace(",", "")) * 1_000))
        elif (title := _HEAD.fullmatch(row)) is not None:
            stated.append(int(title["count"]))
            tally.aside("the number of entries")
        elif _TOTAL.match(row) is not None:
            tally.aside("the total, which is the sum of the steps")
    return sorted(stamps, key=lambda stamp: stamp.t_ns)


def parse_table(data: bytes, *, ticks_per_us: int | None = None) -> tuple[list[CbmemStamp], bool]:
    """Return the stamps of a raw table, earliest first, and whether their times are cycles for want of a rate.

    `ticks_per_us`: the rate for a table that has none, as old coreboot's on x86: the TSC in MHz.
    """
    base, _, megahertz, count = _TABLE.unpack_from(data)
    entries = [_ENTRY.unpack_from(data, _TABLE.size + index * _ENTRY.size) for index in range(count)]
    entries.append((0, 0))
    # As cbmem does: where a stamp is from before the base, the earliest one is zero.
    earliest = min(stamp for _, stamp in entries)
    base = -earliest if earliest < 0 else base
    rate = megahertz or ticks_per_us
    stamps = [
        CbmemStamp(
            number, _NAMES.get(number, f"timestamp {number}"), (at + base) * 1_000 // rate if rate else at + base
        )
        for number, at in entries
    ]
    return sorted(stamps, key=lambda stamp: stamp.t_ns), not rate


def _is_table(data: bytes) -> bool:
    if len(data) < _TABLE.size + _ENTRY.size:
        return False
    _, most, megahertz, count = _TABLE.unpack_from(data)
    if not 0 < count <= most or megahertz > _FASTEST_MHZ or _TABLE.size + count * _ENTRY.size > len(data):
        return False
    # Nothing else in 20 bytes says what it is, so the entries must: known numbers, and times that are one boot's.
    numbers = {_ENTRY.unpack_from(data, _TABLE.size + index * _ENTRY.size)[0] for index in range(count)}
    return len(numbers & _NAMES.keys()) * 2 >= len(numbers) and max(numbers) < _PAST_LAST_NUMBER


def _phases(stamps: list[CbmemStamp]) -> Iterator[Span]:
    # Each stage lasts until the next one begins.
    starts = [stamp for stamp in stamps if stamp.number in _STAGES]
    if starts and starts[0].t_ns > stamps[0].t_ns:
        yield Span(stamps[0].t_ns, starts[0].t_ns, "phase", "before the first stage")
    for index, stamp in enumerate(starts):
        end = starts[index + 1].t_ns if index + 1 < len(starts) else stamps[-1].t_ns
        yield Span(stamp.t_ns, end, "phase", _STAGES[stamp.number])


IMPORTER: Final = Importer(
    name="cbmem", title="coreboot timestamps: cbmem -t, cbmem -T, or the table by cbmem -r 54494d45",
    recognise=recognise, read=read,
)  # fmt: skip
