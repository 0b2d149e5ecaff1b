"""`systemd-analyze dump` -> Recording: units by the wall clock, in whole seconds.

The dump prints wall clock times without fractions, so it orders units and tells slow ones from quick ones, no more.
Where the wall clock was set during the boot (no battery, a machine that was asleep) what lies across is not comparable.
"""

import re
from datetime import UTC, datetime
from typing import Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.systemd.units import UNIT_NAME
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import MOST_SPANS, Recording
from bootlab.timeline.timeline import Timeline

WALL: Final = Clock("wall", 1_000_000_000)
_MANAGER = re.compile(r"Manager: (?P<version>.*)")
_UNIT = re.compile(rf"(?:→|->) Unit (?P<unit>{UNIT_NAME}):\s*")
_STAMP = re.compile(
    r"\s*(?:Timestamp (?P<manager>[\w-]+)|(?P<unit>Inactive Exit|Active Enter|Inactive Enter) Timestamp): "
    r"(?P<at>.{1,80}?)\s{0,40}"
)
_DATE = re.compile(r"[A-Z][a-z]{2} (\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?: \S+)?")
_JUMP_NS: Final = 86_400 * 1_000_000_000


def recognise(head: Head) -> str:
    """Return the line, among the first, that is the dump's head or its first unit."""
    return next((row for row in head.rows[:50] if _MANAGER.match(row) or _UNIT.match(row)), "")


def read(source: Source, options: Options) -> Recording:
    """Return the units that became active. Raises FormatError for a file without units."""
    tool, unit, units = "systemd-analyze dump", "", 0
    manager: dict[str, int] = {}
    found_units: dict[str, dict[str, int]] = {}
    for _, row in source.rows():
        source.tally.aside("other properties")
        if (found := _UNIT.fullmatch(row)) is not None:
            source.tally.used("units")
            unit, units = found["unit"], units + 1
        elif (stamp := _STAMP.fullmatch(row)) is not None:
            if (at_ns := _wall_ns(stamp["at"])) is None:
                continue
            source.tally.used("moments of units and of the manager")
            if stamp["manager"]:
                manager[stamp["manager"]] = at_ns
            elif unit and len(found_units) < MOST_SPANS:
                found_units.setdefault(unit, {}).setdefault(stamp["unit"], at_ns)
        elif (found := _MANAGER.fullmatch(row)) is not None:
            tool = f"systemd-analyze dump, {found['version'][:80]}"
    if not units:
        raise source.expected("units: `-> Unit ssh.service:`")
    return _recording(tool, manager, found_units, units)


def _recording(tool: str, manager: dict[str, int], found: dict[str, dict[str, int]], units: int) -> Recording:
    steps = sorted(manager.values())
    # After the last time the clock was set, what follows is comparable.
    zero_ns = next((after for before, after in reversed(list(zip(steps, steps[1:], strict=False)))
                    if after - before > _JUMP_NS), steps[0] if steps else 0)  # fmt: skip
    zero_ns = zero_ns or min((at for stamps in found.values() for at in stamps.values()), default=0)
    spans, events, before = [], [], 0
    for name, stamps in found.items():
        begun, active = stamps.get("Inactive Exit"), stamps.get("Active Enter")
        # What runs once and leaves nothing behind is never active.
        ended = stamps.get("Inactive Enter") if active is None else active
        if begun is not None and ended is not None and zero_ns <= begun <= ended:
            spans.append(Span(begun - zero_ns, ended - zero_ns, "unit", name))
        if active is not None:
            events.append(Event(active - zero_ns, "systemd", f"active {name}"))
            before += active < zero_ns
    notes = ["A dump has whole seconds of the wall clock: what took less than one shows as 0 or 1 s."]
    if steps and zero_ns != steps[0]:
        notes.append("The wall clock was set during this boot; times count from the first stamp after that.")
    return Recording(
        format=IMPORTER.name,
        tool=tool,
        timeline=Timeline.of(WALL, events, spans),
        about_clock="the machine's wall clock; zero is the kernel's start, or the moment the clock was set",
        facts={"units": str(units)},
        notes=tuple(notes),
    )


def _wall_ns(text: str) -> int | None:
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    try:
        year, month, day, hour, minute, second = (int(part) for part in found.groups())
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    return int(moment.timestamp()) * 1_000_000_000


IMPORTER: Final = Importer("systemd-dump", "systemd-analyze dump: units by the wall clock, in seconds", recognise, read)
