"""Android's boot markers -> Recording: `logcat -b events` (boot_progress_*), and `getprop` (ro.boottime.*).

Formats: system/logging/liblog/logprint.cpp, EventLogTags.logtags of frameworks/base, and system/core/init/init.cpp of
Android 14. An event's own number, milliseconds since the kernel's start, is its time: the time of day before it jumps
while a device boots.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.reading.tally import Tally
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import MOST_SPANS, Length, Recording
from bootlab.timeline.timeline import Timeline

BOOTTIME: Final = Clock("android boot time", 1_000_000)

# 07-15 04:13:35.244 I/boot_progress_start( 1059): 4040                      -v time
# boot_progress_start: 21357                                                     by itself
# 07-10 11:12:39.158   317   317 I boot_progress_start: 21357                 -v threadtime
_PROGRESS = re.compile(
    r"(?:I/| I |^\s{0,20})(?P<name>boot_progress_\w{1,60}|wm_boot_animation_done|sf_stop_bootanim)"
    r"(?:\([ \d]{1,8}\))? ?: ?(?P<ms>\d{1,12})\b"
)
# [ro.boottime.init]: [5000000000]
_PROPERTY = re.compile(r"\[ro\.boottime\.(?P<name>[\w.@-]{1,100})\]: \[(?P<value>\d{1,18})\]")
# init's own stages are lengths. Its README of Android 14: modules and cold_boot_wait in ms, first_stage and selinux in
# ns; fsck.* and mount_all.* are Timer::duration(), in ms. Some devices give init's own start, and selinux, in ms too:
# less than 100 us after the kernel's start nothing runs yet.
_STAGE = re.compile(r"init\.[\w.-]+")
_IN_NS: Final = ("init", "init.first_stage", "init.selinux")
_LEAST_NS: Final = 100_000
# No device takes so long from its kernel to its framework: what starts later is a restart, or runs in a container.
_LATEST_START_NS: Final = 600_000_000_000
_ANY_PROPERTY = re.compile(r"\[[\w.@-]{1,100}\]: \[.*")
# 07-15 04:13:35.244  1059  1059 I tag: ...      07-15 04:13:35.244 I/tag( 1059): ...      I/tag( 1059): ...
_LOGCAT = re.compile(
    r"-{5,20} beginning of |(?:\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} {1,6})?(?:\d{1,7} {1,6}\d{1,7} [VDIWEFA] |[VDIWEFA]/)\S"
)


@dataclass(slots=True)
class Markers:
    """What was found. `repeated`: markers that came again, as they do when only the framework restarts."""

    events: dict[str, int] = field(default_factory=dict)
    services: dict[str, int] = field(default_factory=dict)
    stages: dict[str, int] = field(default_factory=dict)
    repeated: int = 0
    in_milliseconds: int = 0


def recognise(head: Head) -> str:
    """Return the first row that is one of the markers, of a log of Android's be it far behind."""
    told = next(filter(_is_marker, head.rows), "")
    return told or (next(filter(_is_marker, head.further_rows), "") if _mostly(_LOGCAT, head) else "")


def _is_marker(row: str) -> bool:
    return _PROGRESS.search(row) is not None or _PROPERTY.match(row) is not None


def _mostly(form: re.Pattern[str], head: Head) -> bool:
    rows = [row for row in head.rows[:200] if row.strip()]
    return 2 * sum(form.match(row) is not None for row in rows) > len(rows)


def markless(head: Head) -> tuple[str, str] | None:
    """Return what a file of Android's tools without a marker is, and what to record; None for any other file."""
    if _mostly(_LOGCAT, head):
        return (
            "a log of Android's without a boot marker in it",
            "markers are in another buffer: adb logcat -d -b events",
        )
    if _mostly(_ANY_PROPERTY, head):
        return (
            "Android's properties without ro.boottime.* among them",
            "getprop has them since Android 8, in the system itself; on older ones adb logcat -d -b events",
        )
    return None


def read(source: Source, options: Options) -> Recording:
    """Return the markers of the first boot. Raises FormatError when there is none."""
    found = parse((row for _, row in source.rows()), source.tally)
    if not found.events and not found.services and not found.stages:
        raise source.expected(
            "Android boot markers: `07-15 04:13:35.244 I/boot_progress_start( 1059): 4040` of logcat -b events, or "
            "`[ro.boottime.init]: [5000000000]` of getprop"
        )
    events = [Event(t_ns, "boot event", name) for name, t_ns in found.events.items()]
    services = [Event(t_ns, "service start", name) for name, t_ns in found.services.items()]
    notes = []
    if (since := _running_before(found.events)) is not None:
        notes.append(
            f"The framework started {since / 60e9:.0f} minutes after the kernel: it was started again, or runs in a "
            "container, and what the kernel and init took is not in this log."
        )
    if found.repeated:
        notes.append(f"{found.repeated} markers came again, when the framework restarted; the first of each counts.")
    if found.in_milliseconds:
        notes.append(
            f"{found.in_milliseconds} of init's properties are too small for nanoseconds: read as milliseconds."
        )
    return Recording(
        format=IMPORTER.name,
        tool="Android",
        timeline=Timeline.of(BOOTTIME, [*events, *services][:MOST_SPANS]),
        about_clock="the kernel's time since its start, sleep included; firmware and loader are not in it",
        phases=tuple(_phases(found.events)),
        lengths=tuple(Length(took, "init", name) for name, took in found.stages.items())[:MOST_SPANS],
        notes=tuple(notes),
    )


def parse(rows: Iterable[str], tally: Tally) -> Markers:
    """Return the markers among the rows of a log or a list of properties."""
    found = Markers()
    for row in rows:
        tally.aside("other rows of the log")
        if (event := _PROGRESS.search(row)) is not None:
            tally.used("boot events")
            if event["name"] in found.events:
                found.repeated += 1
            else:
                found.events[event["name"]] = int(event["ms"]) * 1_000_000
        elif (one := _PROPERTY.match(row)) is not None:
            tally.used("init's properties")
            _take_property(found, one["name"], int(one["value"]))
    return found


def _take_property(found: Markers, name: str, value: int) -> None:
    if name != "init" and _STAGE.fullmatch(name) is None:
        found.services[name] = value
        return
    if name not in _IN_NS:
        value *= 1_000_000
    elif 0 < value < _LEAST_NS:
        found.in_milliseconds += 1
        value *= 1_000_000
    (found.services if name == "init" else found.stages)[name] = value


def _running_before(events: dict[str, int]) -> int | None:
    # How long the kernel ran when the framework started, where that is no boot of the kernel.
    first = min(events.values(), default=0)
    return first if first > _LATEST_START_NS else None


def _phases(events: dict[str, int]) -> Iterator[Span]:
    named = sorted((t_ns, name.removeprefix("boot_progress_")) for name, t_ns in events.items())
    start, before = 0, "kernel and init"
    if _running_before(events) is not None:
        (start, before), named = named[0], named[1:]
    for t_ns, name in named:
        yield Span(start, t_ns, "phase", before if start == 0 and before == "kernel and init" else f"from {before}")
        start, before = t_ns, name


IMPORTER: Final = Importer(
    name="android", title="Android: logcat -b events (boot_progress_*), getprop (ro.boottime.*)",
    recognise=recognise, read=read,
)  # fmt: skip
