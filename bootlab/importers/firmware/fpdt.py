"""ACPI's Firmware Performance Data Table as Linux shows it -> Recording: `grep -r . /sys/firmware/acpi/fpdt`.

    /sys/firmware/acpi/fpdt/boot/bootloader_load_ns:2204938000          grep
    ==> /sys/firmware/acpi/fpdt/boot/bootloader_load_ns <==             tail -n +1, head: the figure on the line below

By drivers/acpi/acpi_fpdt.c. The firmware's timer runs from the processor's reset. A figure of 0 was never written.
"""

import re
from collections.abc import Iterator
from typing import Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Head, Source
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import Length, Recording
from bootlab.timeline.timeline import Timeline

FIRMWARE: Final = Clock("firmware", 1)
_GREPPED = re.compile(r"(?:\S{0,200}/)?(?P<name>(?:boot|resume|suspend)/\w{1,40}):\s{0,9}(?P<value>\d{1,20})\s{0,9}")
_TITLE = re.compile(r"==> (?:\S{0,200}/)?(?P<name>(?:boot|resume|suspend)/\w{1,40}) <==")
_FIGURE = re.compile(r"\s{0,9}(?P<value>\d{1,20})\s{0,9}")
_BOOT: Final = (
    ("boot/firmware_start_ns", "before the firmware"),
    ("boot/bootloader_load_ns", "firmware"),
    ("boot/bootloader_launch_ns", "loading the boot loader"),
    ("boot/exitbootservice_start_ns", "boot loader"),
    ("boot/exitbootservice_end_ns", "leaving the boot services"),
)
"""Each figure, and the phase that ends with it."""
_NAMES: Final = frozenset(
    {*(name for name, _ in _BOOT), "resume/resume_count", "resume/resume_avg_ns", "resume/resume_prev_ns",
     "suspend/suspend_start_ns", "suspend/suspend_end_ns"}
)  # fmt: skip


def recognise(head: Head) -> str:
    """Return the first line that names one of the table's figures."""
    found = ((row, _GREPPED.fullmatch(row) or _TITLE.fullmatch(row)) for row in head.rows[:100])
    return next((row for row, match in found if match is not None and match["name"] in _NAMES), "")


def read(source: Source, options: Options) -> Recording:
    """Return the firmware's phases. Raises FormatError where no figure of a boot is there."""
    figures: dict[str, int] = {}
    title = ""
    for _, row in source.rows():
        if (found := _GREPPED.fullmatch(row)) is not None and found["name"] in _NAMES:
            source.tally.used("figures of the table")
            figures.setdefault(found["name"], int(found["value"]))
        elif (found := _TITLE.fullmatch(row)) is not None:
            source.tally.aside("names of files")
            title = found["name"]
        elif title in _NAMES and (found := _FIGURE.fullmatch(row)) is not None:
            source.tally.used("figures of the table")
            figures.setdefault(title, int(found["value"]))
            title = ""
    late = _too_late(figures)
    phases = tuple(_phases({name: value for name, value in figures.items() if name not in late}))
    if not phases:
        raise source.expected("figures such as `/sys/firmware/acpi/fpdt/boot/bootloader_load_ns:2204938000`")
    missing = [name for name, _ in _BOOT if not figures.get(name)]
    notes = []
    if missing:
        notes.append(f"The firmware wrote no {_short(missing)}: what it ends is not apart.")
    if late:
        notes.append(
            f"{_short(late)} lies behind what comes after it, so the firmware wrote it in another unit or never reset "
            "it: it bounds no phase."
        )
    return Recording(
        format=IMPORTER.name,
        tool="ACPI FPDT",
        timeline=Timeline.of(
            FIRMWARE,
            [
                Event(figures[name], "firmware", name.partition("/")[2])
                for name, _ in _BOOT
                if figures.get(name) and name not in late
            ],
        ),
        about_clock="the firmware's timer, which runs from the processor's reset",
        phases=phases,
        lengths=tuple(_lengths(figures)),
        notes=tuple(notes),
    )


def _short(names: list[str]) -> str:
    return ", ".join(name.partition("/")[2] for name in names)


def _too_late(figures: dict[str, int]) -> list[str]:
    # Those that lie behind most of their successors: one wrong figure must not take the others with it.
    known = [(name, figures[name]) for name, _ in _BOOT if figures.get(name)]
    late = []
    for number, (name, value) in enumerate(known):
        behind = [other for _, other in known[number + 1 :]]
        if behind and 2 * sum(value > other for other in behind) > len(behind):
            late.append(name)
    return late


def _phases(figures: dict[str, int]) -> Iterator[Span]:
    before = 0
    for name, phase in _BOOT:
        end = figures.get(name, 0)
        if end > before:
            yield Span(before, end, "phase", phase)
            before = end


def _lengths(figures: dict[str, int]) -> Iterator[Length]:
    start, end = figures.get("suspend/suspend_start_ns", 0), figures.get("suspend/suspend_end_ns", 0)
    if 0 < start <= end:
        yield Length(end - start, "firmware", "suspend")
    for name in ("resume/resume_prev_ns", "resume/resume_avg_ns"):
        if figures.get(name):
            about = f"of {figures.get('resume/resume_count', 0)} resumes" if name.endswith("avg_ns") else "the last one"
            yield Length(figures[name], "firmware", name.partition("/")[2].removesuffix("_ns"), about)


IMPORTER: Final = Importer(
    "fpdt", "the firmware's own times: grep -r . /sys/firmware/acpi/fpdt (ACPI FPDT)", recognise, read
)
