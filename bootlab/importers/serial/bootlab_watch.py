"""Recordings of `bootlab watch --record` -> Recording: lines by when their first byte began, on the host's clock.

The bytes of each line are split and stamped as `watch` itself does it (console.py). Of several lines the one that
carries most of the kernel's stamps is laid over the kernel's clock; what the others say stands beside it.
"""

from dataclasses import replace
from typing import Final

from bootlab.errors import InputError
from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import MOST_ROW_BYTES, FormatError, Head, Source
from bootlab.importers.serial.console_lines import ConsoleLine, LineSplitter
from bootlab.importers.serial.console_recording import console_events, console_recording, stamped_pairs
from bootlab.importers.serial.watch_file import (
    Header,
    RecordedEnd,
    RecordedLoss,
    RecordedRead,
    is_recording,
    parse_header,
    parse_recorded,
)
from bootlab.timeline.event import Event
from bootlab.timeline.line_account import Fate
from bootlab.timeline.recording import MOST_SPANS, Recording
from bootlab.timeline.timeline import Timeline

_ABOUT: Final = "the host's CLOCK_MONOTONIC as each line's first byte began; zero is the watch's start"


def recognise(head: Head) -> str:
    """Return the beginning of the first line, where it says that it is one."""
    return head.rows[0][:60] if is_recording(head.data) else ""


def read(source: Source, options: Options) -> Recording:
    """Return what was recorded. Raises FormatError for what is none, is damaged, or has no line."""
    first, _, rest = source.text().partition("\n")
    try:
        header = parse_header(first)
        consoles, losses, ended = _take(header, rest)
    except InputError as error:
        raise FormatError(f"{source.name}: {error.message}", hint=error.hint) from error
    tally = source.tally
    read = sum(map(len, consoles))
    tally.of_records("console lines", read)
    tally.add(Fate.USED, "console lines with a time", min(read, 2 * MOST_SPANS))
    tally.add(Fate.LEFT_OUT, f"more than {2 * MOST_SPANS} of their kind", read - 2 * MOST_SPANS)
    if not any(consoles):
        raise source.expected("at least one line of a console")
    of = max(range(len(consoles)), key=lambda port: (len(stamped_pairs(consoles[port])), len(consoles[port])))
    one = console_recording(consoles[of], format_name=IMPORTER.name, tool="bootlab watch", about_clock=_ABOUT)
    others = [
        replace(event, name=f"{header.ports[port].name}: {event.name}"[:4096])
        for port, lines in enumerate(consoles) if port != of
        for event in console_events(lines)
    ]  # fmt: skip
    timeline = one.timeline
    events = [*timeline.events, *others, *losses]
    facts = {"watched": ", ".join(port.name for port in header.ports), "started": header.started, **one.facts}
    notes = () if ended else ("The recording has no end: `watch` was killed, or it still runs.",)
    notes = (*notes, *(f"A line was lost: {loss.name}." for loss in losses[:10]))
    return replace(
        one,
        timeline=Timeline.of(timeline.clock, events[: 2 * MOST_SPANS], timeline.spans),
        facts=facts,
        notes=(*notes, *one.notes),
    )


def _take(header: Header, rows: str) -> tuple[list[list[ConsoleLine]], list[Event], bool]:
    # Each port's lines, what was lost, and whether the end is there. Times are since the watch's start.
    splitters = [LineSplitter(byte_ns=port.byte_ns, longest=MOST_ROW_BYTES) for port in header.ports]
    consoles: list[list[ConsoleLine]] = [[] for _ in splitters]
    losses: list[Event] = []
    ended = False
    for one in parse_recorded(rows.splitlines(), len(splitters)):
        at_ns = one.t_ns - header.start_ns
        if isinstance(one, RecordedRead):
            consoles[one.port] += splitters[one.port].feed(one.data, at_ns)
        elif isinstance(one, RecordedLoss) and len(losses) < MOST_SPANS:
            losses.append(Event(at_ns, "console", f"{header.ports[one.port].name} was lost: {one.reason}"[:4096]))
        ended = ended or isinstance(one, RecordedEnd)
    for port, splitter in enumerate(splitters):
        consoles[port] += splitter.finish()
    return consoles, losses, ended


IMPORTER: Final = Importer("watch", "what bootlab watch --record keeps of serial lines", recognise, read)
