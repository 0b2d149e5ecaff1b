"""TI's boot time report (boot-time-parser on a Sitara board) -> Recording: SPL, U-Boot, kernel and microcontroller.

    SPL Time                : 843 ms
    BOOTSTAGE_START_UBOOT_R        =   1951 ms (+1108 ms)

Its summary has the lengths of the boot's parts, then each record has its moment and what went by since the one before.
Records of the microcontroller run on the same counter, beside the boot.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Head, Source
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import MOST_SPANS, Recording
from bootlab.timeline.timeline import Timeline

COUNTER: Final = Clock("counter", 1_000_000)
_TITLE = re.compile(r"\s{0,40}(?P<host>[\w.-]{1,64}) Boot Time Report\s{0,9}")
_SUMMARY = re.compile(r"(?P<name>[A-Z][\w -]{2,30}?)\s{0,20}: (?P<ms>\d{1,10}) ms\s{0,9}")
_RECORD = re.compile(
    r"(?P<name>\w{1,60})\s{0,60}=\s{1,12}(?P<ms>\d{1,10}) ms \(\+\s{0,12}(?P<since>\d{1,10}) ms\)\s{0,9}"
)
_RULE = re.compile(r"\s{0,9}\+?-{20,100}\+?\s{0,9}")
_SECTION = re.compile(r"\s{0,40}(?P<whose>Bootloader and Kernel|MCU) Boot Records\s{0,9}")
_PARTS: Final = {
    "Device Power On": "before SPL", "SPL Time": "SPL", "U-Boot Time": "U-Boot", "U-BOOT Time": "U-Boot",
    "Kernel handoff time": "kernel handoff", "Kernel Time": "kernel",
}  # fmt: skip
_TOTAL: Final = "Total Boot Time"
_OVERFLOW: Final = 1 << 31
"""Milliseconds above this are differences below zero that were printed without a sign."""


@dataclass
class _Report:
    host: str = ""
    parts: list[tuple[str, int]] = field(default_factory=list)
    total: int | None = None
    records: dict[str, list[tuple[str, int, int]]] = field(default_factory=dict)
    """Whose -> name, ms, ms since the one before."""
    whose: str = "boot"
    negative: int = 0


def recognise(head: Head) -> str:
    """Return the report's title."""
    has_parts = any((found := _SUMMARY.fullmatch(row)) and found["name"] in _PARTS for row in head.rows[:200])
    return next((row.strip() for row in head.rows[:200] if _TITLE.fullmatch(row)), "") if has_parts else ""


def read(source: Source, options: Options) -> Recording:
    """Return the parts of the boot and every record. Raises FormatError when there is neither."""
    found = _Report()
    for _, row in source.rows():
        _take(row, found, source)
    if not found.parts and not found.records:
        raise source.expected("rows such as `U-Boot Time             : 2173 ms`")
    boot, others = found.records.get("boot", []), found.records.get("MCU", [])
    return Recording(
        format=IMPORTER.name,
        tool="boot-time-parser",
        timeline=Timeline.of(
            COUNTER,
            [
                *(Event(ms * 1_000_000, "boot", name) for name, ms, _ in boot),
                *(Event(ms * 1_000_000, "MCU", name) for name, ms, _ in others),
            ],
            [*_until(boot, "until"), *_until(others, "until, MCU")],
        ),
        about_clock="the processor's counter, which runs from power-on",
        phases=tuple(_phases(found.parts)),
        facts={"host": found.host} if found.host else {},
        notes=tuple(_notes(found)),
    )


def _take(row: str, found: _Report, source: Source) -> None:
    tally = source.tally
    if (title := _TITLE.fullmatch(row)) is not None:
        tally.aside("titles")
        found.host = found.host or title["host"]
    elif (section := _SECTION.fullmatch(row)) is not None:
        tally.aside("titles")
        found.whose = "MCU" if section["whose"] == "MCU" else "boot"
    elif _RULE.fullmatch(row):
        tally.aside("rules")
    elif (record := _RECORD.fullmatch(row)) is not None:
        records = found.records.setdefault(found.whose, [])
        if len(records) >= MOST_SPANS:
            tally.leave_out(f"more than {MOST_SPANS} records")
        elif records and int(record["ms"]) < records[-1][1]:
            tally.leave_out("earlier than the record above it: of another boot, or damaged")
        else:
            tally.used("records")
            records.append((record["name"], int(record["ms"]), int(record["since"])))
    elif (part := _SUMMARY.fullmatch(row)) is not None and part["name"] in (*_PARTS, _TOTAL):
        ms = int(part["ms"])
        if ms >= _OVERFLOW:
            found.negative += 1
            tally.leave_out("a length below zero, printed without its sign")
        elif part["name"] == _TOTAL and found.total is None:
            tally.used("lengths of the summary")
            found.total = ms
        elif part["name"] in _PARTS and _PARTS[part["name"]] not in dict(found.parts):
            tally.used("lengths of the summary")
            found.parts.append((_PARTS[part["name"]], ms))
        else:
            tally.leave_out("of a second report")


def _until(records: Sequence[tuple[str, int, int]], source: str) -> Iterator[Span]:
    for name, ms, since in records:
        if since <= ms:
            yield Span((ms - since) * 1_000_000, ms * 1_000_000, source, name)


def _phases(parts: Sequence[tuple[str, int]]) -> Iterator[Span]:
    before = 0
    for name, ms in parts:
        if ms > 0:
            yield Span(before * 1_000_000, (before + ms) * 1_000_000, "phase", name)
        before += ms


def _notes(found: _Report) -> Iterator[str]:
    whole = sum(ms for _, ms in found.parts)
    if found.total is not None and found.total != whole:
        yield f"The report's total is {found.total} ms, and its parts add up to {whole} ms."
    if found.negative:
        yield f"{found.negative} lengths of the report are below zero: a stage was never recorded."


IMPORTER: Final = Importer(
    "ti-boot-report", "TI's boot time report of SPL, U-Boot, kernel and microcontroller (boot-time-parser)",
    recognise, read,
)  # fmt: skip
