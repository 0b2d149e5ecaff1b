"""Firecracker's log -> Recording: what the VMM did when, and with `--boot-timer` how long the guest took to be up.

Formats: src/vmm/src/logger/logging.rs and src/vmm/src/devices/pseudo/boot_timer.rs of Firecracker 1.13. Stamps are the
host's local time of day, so only their differences are used.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.reading.tally import Tally
from bootlab.importers.reading.text_in_place import in_place
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import MOST_SPANS, Length, Recording, Series
from bootlab.timeline.timeline import Timeline

LOCAL_TIME: Final = Clock("host local time", 1_000)

# 2025-08-06T14:41:21.599408679 [anonymous-instance:main] Running Firecracker v1.12.1   (or :INFO:FILE:LINE])
_ROW = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)T(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:\.(?P<part>\d{1,9}))? "
    r"\[(?P<where>[^\]]{1,200})\] (?P<text>.*)"
)
# Guest-boot-time = 279446 us 279 ms, 272485 CPU us 272 CPU ms
_GUEST = re.compile(r"Guest-boot-time = {1,7}(?P<us>\d{1,15}) us \d{1,15} ms, {1,7}(?P<cpu>\d{1,15}) CPU us")
_STEP = re.compile(r"event_(?P<what>start|end): (?P<name>.{1,200})")
# The API server received a Put request on "/boot-source" with body ...; then, in the same thread, what it took.
_ASKED = re.compile(r'The API server received a (?P<verb>\w{3,10}) request on "(?P<path>[^"]{1,200})"')
_CALL = re.compile(r"Total previous API call duration: (?P<us>\d{1,12}) us")
_VERSION = re.compile(r"Running Firecracker (?P<version>v\S{1,40})")
_LONGEST_TEXT = 1024


@dataclass(slots=True)
class Log:
    """What a log holds; times are ns since its first stamp."""

    events: list[Event] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    guest_boots: list[tuple[int, int]] = field(default_factory=list)
    """Wall and CPU time of each guest's boot, ns."""
    placed: bool = False
    """Whether the first guest's boot has a stamp, and so a place."""
    version: str = ""
    text: list[tuple[int | None, str]] = field(default_factory=list)
    """The times of the rows, and the rows of the guest's console among them, which have none."""
    backwards: int = 0
    """Stamps before the one before: the host's clock was set, or several logs lie behind each other."""


def recognise(head: Head) -> str:
    """Return the first row that has Firecracker's stamp and place, or is a boot timer's."""
    told = (row for row in head.rows if _GUEST.search(row) or ((found := _ROW.match(row)) and _named(found["where"])))
    return next(told, "")


def _named(where: str) -> bool:
    # Instance and thread, then level, file and line where they are shown.
    return re.match(r"[\w-]{1,64}:(main|fc_\w+)\b", where) is not None


def read(source: Source, options: Options) -> Recording:
    """Return the log's events, steps and guest boots. Raises FormatError for a file without any of its rows."""
    log = parse((row for _, row in source.rows()), source.tally)
    if not log.events and not log.guest_boots:
        raise source.expected("rows of Firecracker's log, such as `2025-08-06T14:41:21.599408679 [id:main] ...`")
    notes = []
    if log.guest_boots:
        notes.append("Guest-boot-time counts from the InstanceStart request, so the VMM's own start is not in it.")
    if log.backwards:
        notes.append(f"{log.backwards} stamps lie before the one before them: a clock was set, or logs were joined.")
    boots = log.guest_boots
    return Recording(
        format=IMPORTER.name,
        tool=f"Firecracker {log.version}".strip(),
        timeline=Timeline.of(LOCAL_TIME, log.events[:MOST_SPANS], log.spans[:MOST_SPANS]),
        about_clock="the host's time of day; zero is the log's first row",
        lengths=tuple(
            Length(wall, "guest boot", "InstanceStart to the guest's signal", f"{cpu / 1e6:.3f} ms of them on a CPU")
            for wall, cpu in boots[: not log.placed]
        ),
        series=(
            Series("guest boot time", "ns", tuple(float(wall) for wall, _ in boots)),
            Series("guest boot time on a CPU", "ns", tuple(float(cpu) for _, cpu in boots)),
        )
        if len(boots) > 1
        else (),
        text=in_place(log.text),
        notes=tuple(notes),
    )


def parse(rows: Iterable[str], tally: Tally) -> Log:
    """Return what the rows of a log say; rows of anything else, such as the guest's console, are kept as text."""
    log, first, last, call = Log(), None, 0, ""
    started: dict[str, int] = {}
    for row in rows:
        found = _ROW.match(row)
        t_ns = None if found is None else _since_ever(found)
        if found is None or t_ns is None:
            boots = list(_guest_boots(row))
            log.guest_boots += boots
            if boots:
                tally.used("guest boot times")
            elif (version := _VERSION.match(row)) is not None:
                tally.used("the version")
                log.version = version["version"]
            elif row.strip():
                tally.text("rows without a stamp, as of the guest's console")
                log.text.append((None, row))
            continue
        tally.used("rows of the log")
        first = t_ns if first is None else first
        log.backwards += t_ns < last
        last, t_ns = t_ns, max(t_ns - first, 0)
        text = found["text"][:_LONGEST_TEXT]
        log.text.append((t_ns, ""))
        log.events.append(Event(t_ns, found["where"].split(":")[1] if ":" in found["where"] else "vmm", text))
        for wall, cpu in _guest_boots(text):
            log.placed = log.placed or not log.guest_boots
            log.guest_boots.append((wall, cpu))
            about = f"{cpu / 1e6:.3f} ms of them on a CPU"
            log.spans.append(Span(t_ns - wall, t_ns, "guest boot", "InstanceStart to the guest's signal", about=about))
        if (asked := _ASKED.match(text)) is not None:
            call = f"{asked['verb'].upper()} {asked['path']}"
        elif (took := _CALL.match(text)) is not None:
            log.spans.append(Span(t_ns - int(took["us"]) * 1_000, t_ns, "API call", call or "the one before"))
            call = ""
        if (step := _STEP.match(text)) is not None:
            if step["what"] == "start":
                started[step["name"]] = t_ns
            elif (start := started.pop(step["name"], None)) is not None and start <= t_ns:
                log.spans.append(Span(start, t_ns, "vmm", step["name"]))
        if (version := _VERSION.match(text)) is not None:
            log.version = version["version"]
    return log


def stamped(row: str) -> tuple[int, str] | None:
    """Return a row's time, ns since the year 1 of the clock that it was stamped by, and its text; None without one."""
    found = _ROW.match(row)
    t_ns = None if found is None else _since_ever(found)
    return None if found is None or t_ns is None else (t_ns, found["text"][:_LONGEST_TEXT])


def guest_boot_of(text: str) -> tuple[int, int] | None:
    """Return what a row says of a guest's boot, wall and CPU time in ns; None where it says nothing of it."""
    return next(_guest_boots(text), None)


def _guest_boots(text: str) -> Iterator[tuple[int, int]]:
    if (found := _GUEST.search(text)) is not None:
        yield int(found["us"]) * 1_000, int(found["cpu"]) * 1_000


def _since_ever(found: re.Match[str]) -> int | None:
    try:
        days = date.fromisoformat(found["day"]).toordinal()
    except ValueError:
        return None
    seconds = ((days * 24 + int(found["hour"])) * 60 + int(found["minute"])) * 60 + int(found["second"])
    return seconds * 1_000_000_000 + int((found["part"] or "0").ljust(9, "0"))


IMPORTER: Final = Importer(
    name="firecracker", title="Firecracker's log, with or without --boot-timer", recognise=recognise, read=read
)
