"""A console of boot loaders alone, stamped by nobody else: boot ROM, SPL, OpenSBI, U-Boot -> Recording.

Which program wrote which lines is told by their banners. U-Boot of some vendors stamps its lines, on a clock of its
own, which each program may begin anew; without those the lines are text.
"""

from typing import Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.kernel.line import has_kernel_line, stamped_by_loader, without_control
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.reading.text_in_place import LONGEST_TEXT, in_place
from bootlab.importers.serial.boot_programs import (
    DECOMPRESSOR,
    coreboot_lengths,
    own_stamps_ns,
    program_of,
    programs_before_linux,
)
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import MOST_SPANS, Recording
from bootlab.timeline.timeline import Timeline

LOADER: Final = Clock("loader", 1_000_000)
_FINER: Final = Clock("loader", 1_000)


def recognise(head: Head) -> str:
    """Return the first banner of a loader, on a console without a kernel's log, which would say more.

    Without one, lines that a loader alone writes tell as much where they are stamped.
    """
    if told := stamped_by_loader(head):
        return told
    told = next((row for row in map(without_control, head.rows) if program_of(row) is not None), "")
    return told if told and not has_kernel_line(head) else ""


def read(source: Source, options: Options) -> Recording:
    """Return the programs on a console. Raises FormatError when none of them names itself."""
    rows: list[str] = []
    lines: list[tuple[int | None, str]] = []
    events: list[Event] = []
    for _, row in source.rows():
        text = without_control(row)
        stamp = next(own_stamps_ns([text]), None)
        rows.append(text if stamp is None else stamp[1])
        if stamp is not None and (not events or stamp[0] >= events[-1].t_ns) and len(events) < MOST_SPANS:
            source.tally.used("lines with the loader's own stamp")
            events.append(Event(stamp[0], "loader", stamp[1][:LONGEST_TEXT]))
            lines.append((stamp[0], ""))
        elif text.strip() and len(lines) < 2 * MOST_SPANS:
            source.tally.text("lines without a time")
            lines.append((None, text))
        elif text.strip():
            source.tally.leave_out(f"more than {2 * MOST_SPANS} of their kind")
        else:
            source.tally.aside("empty lines")
    programs = programs_before_linux(rows)
    if not programs and not events:
        raise source.expected("a loader's banner, such as `U-Boot SPL 2024.01 (...)` or `OpenSBI v1.4`")
    spans = [
        Span(one.t_ns, other.t_ns, "until", other.name)
        for one, other in zip(events, events[1:], strict=False)
        if other.t_ns > one.t_ns
    ]
    lengths = coreboot_lengths(rows)
    return Recording(
        format=IMPORTER.name,
        tool=", ".join(dict.fromkeys(one.name for one in programs if one.name != DECOMPRESSOR)) or "a boot loader",
        timeline=Timeline.of(_FINER if any(event.t_ns % 1_000_000 for event in events) else LOADER, events, spans),
        about_clock="the loader's own stamps" if events else "there is none: no line has a stamp",
        lengths=tuple(lengths[:MOST_SPANS]),
        text=in_place(lines),
        facts={"programs": ", ".join(f"{program.name} ({program.lines} lines)" for program in programs)}
        if programs
        else {},
        notes=()
        if events
        else (
            f"No line has a {'stamp' if lengths else 'time'}: bootlab watch, grabserial -t or a terminal program with "
            "time stamps gives them one.",
        ),
    )


IMPORTER: Final = Importer(
    "loader-console", "a console of U-Boot, SPL, OpenSBI and other loaders alone, without a host's stamps",
    recognise, read,
)  # fmt: skip
