"""`systemd-analyze time`, `blame` and `critical-chain` -> Recording: one of them, or all in one file.

By src/analyze of systemd 257. Spans are printed in whole milliseconds, cut off, so a total may be a few ms more than
its parts. `@` in a critical chain is when a unit began to start, counted from systemd's own start, and for a unit that
takes no time when it was reached; `+` is how long it took.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.reading.timespan import SPAN, parse_timespan
from bootlab.importers.systemd.units import ABOUT_MONOTONIC, MONOTONIC_MS, PARTS, UNIT_NAME, phases_of, without_colours
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import MOST_SPANS, Length, Recording
from bootlab.timeline.timeline import Timeline

USERSPACE: Final = Clock("userspace", 1_000_000)
"""What a critical chain counts on where no line says when systemd itself began."""

# Startup finished in 5.2s (firmware) + 1min 9.608s (kernel) + 29.414s (userspace) = 1min 44.222s
_FINISHED: Final = "Startup finished in "
_LONGEST: Final = 500
_PART = re.compile(rf"(?P<span>{SPAN}) \((?P<name>\w+)\)")
# graphical.target reached after 29.327s in userspace.
_REACHED = re.compile(rf"(?P<unit>{UNIT_NAME}) reached after (?P<span>{SPAN}) in userspace\.?")
#  9.666s ssh.service
_BLAME = re.compile(rf"\s*(?P<span>{SPAN}) (?P<unit>{UNIT_NAME})\s*")
#       └─ssh.service @19.476s +9.666s             in a locale without UTF-8: `-ssh.service
_CHAIN = re.compile(
    rf"(?:[ │|]{{2}})*(?:[├└]─|[`|]-)?(?P<unit>{UNIT_NAME})(?: @(?P<at>{SPAN}))?(?: \+(?P<took>{SPAN}))?\s*"
)
_WRAPPED_NS: Final = 2**64 * 1_000
_CHAIN_HEAD = 'is printed after the "@" character'


@dataclass
class _Found:
    parts: dict[str, int] = field(default_factory=dict)
    total_ns: int | None = None
    reached: list[tuple[str, int]] = field(default_factory=list)
    lengths: list[Length] = field(default_factory=list)
    chain: list[tuple[str, int, int]] = field(default_factory=list)


def recognise(head: Head) -> str:
    """Return the line by which the file begins as one of the three outputs does."""
    rows = [without_colours(row) for row in head.rows if row.strip()][:5]
    told = next((row for row in rows if row.startswith(_FINISHED) or _CHAIN_HEAD in row), "")
    return told or (rows[0] if rows and all(_BLAME.fullmatch(row) for row in rows) else "")


def read(source: Source, options: Options) -> Recording:
    """Return what the outputs say. Raises FormatError for a line of `time` that cannot be read, and for none at all."""
    found = _Found()
    for number, raw in source.rows():
        _take(source, number, without_colours(raw), found)
    if not (found.parts or found.lengths or found.chain):
        raise source.expected("`Startup finished in ...`, lines of blame such as `9.666s ssh.service`, or a chain")
    return _recording(found)


def parse_startup(text: str) -> tuple[dict[str, int], int | None] | None:
    """Return the parts of a `Startup finished in` line (name -> ns) and its total; None when it is none.

    Any subset of the parts may be there. Raises ValueError, naming the part, for one that is no span.
    """
    _, marker, rest = text.partition(_FINISHED)
    if not marker:
        return None
    said, _, total = rest[:_LONGEST].strip().rstrip(".").partition(" = ")
    parts: dict[str, int] = {}
    for piece in said.split(" + "):
        part = _PART.fullmatch(piece)
        span_ns = parse_timespan(part["span"]) if part is not None else None
        if part is None or span_ns is None or part["name"] not in PARTS:
            raise ValueError(piece)
        parts[part["name"]] = span_ns
    return parts, parse_timespan(total.strip()) if total else None


def _take(source: Source, number: int, row: str, found: _Found) -> None:
    try:
        startup = parse_startup(row) if row.startswith(_FINISHED) else None
    except ValueError as error:
        raise source.expected("spans such as `7.170s (kernel)`", row=number, got=str(error)) from error
    if startup is not None:
        found.parts, found.total_ns = startup
        source.tally.used("startup times")
    elif (match := _REACHED.fullmatch(row.strip())) is not None:
        found.reached.append((match["unit"], parse_timespan(match["span"]) or 0))
        source.tally.used("targets reached")
    elif (match := _BLAME.fullmatch(row)) is not None:
        source.tally.leave_out(f"more than {MOST_SPANS} units")
        if len(found.lengths) < MOST_SPANS:
            source.tally.used("units of blame")
            found.lengths.append(Length(parse_timespan(match["span"]) or 0, "unit", match["unit"]))
    elif (match := _CHAIN.fullmatch(row)) is not None:
        source.tally.aside("units of the chain without a time")
        if match["at"] is not None and len(found.chain) < MOST_SPANS:
            source.tally.used("units of the chain")
            at_ns, took_ns = _since_start(match["at"]), parse_timespan(match["took"] or "0") or 0
            found.chain.append((match["unit"], at_ns, took_ns))
        elif match["took"] is not None and len(found.lengths) < MOST_SPANS:
            source.tally.used("units of the chain")
            found.lengths.append(Length(parse_timespan(match["took"]) or 0, "critical chain", match["unit"]))
    elif _CHAIN_HEAD in row or "is printed after the" in row:
        source.tally.aside("the chain's heads")


def _since_start(span: str) -> int:
    # Before systemd 257 what lies before systemd's start is counted backwards from 2**64 us, 584542 years, and cut off.
    at_ns = parse_timespan(span) or 0
    return at_ns if at_ns < _WRAPPED_NS // 2 else -((_WRAPPED_NS - at_ns) // 1_000_000) * 1_000_000


def _recording(found: _Found) -> Recording:
    phases = phases_of(found.parts)
    begun_ns = next((phase.start_ns for phase in phases if phase.name == "userspace"), None)
    clock, zero_ns = (MONOTONIC_MS, begun_ns) if begun_ns is not None else (USERSPACE, 0)
    chain = [
        Span(zero_ns + at_ns, zero_ns + at_ns + took_ns, "critical chain", unit) for unit, at_ns, took_ns in found.chain
    ]
    events = [Event(zero_ns + at_ns, "systemd", f"reached {unit}") for unit, at_ns in found.reached]
    return Recording(
        format=IMPORTER.name,
        tool="systemd-analyze",
        timeline=Timeline.of(clock, events, chain),
        about_clock=ABOUT_MONOTONIC if clock is MONOTONIC_MS else "zero is systemd's own start",
        phases=phases,
        lengths=tuple(found.lengths),
        facts={"target": found.reached[-1][0]} if found.reached else {},
        notes=tuple(_notes(found)),
    )


def _notes(found: _Found) -> list[str]:
    notes = []
    whole_ns = sum(found.parts.values())
    if found.total_ns is not None and abs(found.total_ns - whole_ns) > len(found.parts) * 1_000_000:
        notes.append(
            f"The parts add up to {whole_ns / 1e6:.0f} ms, the line says {found.total_ns / 1e6:.0f} ms: more than "
            "cut-off milliseconds explain."
        )
    if {"kernel", "userspace"} <= found.parts.keys() and "initrd" not in found.parts:
        notes.append("`kernel` lasts to systemd's start: an initramfs without systemd in it is counted as kernel.")
    if any(length.source == "unit" for length in found.lengths):
        notes.append(
            "blame tells of each unit's last start, which need not be the boot's, and of units that start beside each "
            "other: their sum is no share of the boot."
        )
    return notes


IMPORTER: Final = Importer(
    "systemd-analyze", "systemd-analyze time, blame or critical-chain, or several in one file", recognise, read
)
