"""systemd's journal with its fields (`journalctl -b -o json`, `export`, `verbose`) -> Recording.

A kernel's message has both stamps: printk's own, and when journald received it. The least of the differences lays one
clock over the other, so everything is on CLOCK_MONOTONIC. Units take from `Starting` to `Started` or `Finished`, by
systemd's own messages, and its last one has the phases to the microsecond.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from bootlab.errors import InputError
from bootlab.importers.importer import Importer, Options
from bootlab.importers.kernel import dmesg
from bootlab.importers.kernel import log as kernel_log
from bootlab.importers.kernel.line import KernelLine
from bootlab.importers.onto_another_clock import place_spans
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.reading.tally import Tally
from bootlab.importers.systemd.journal_entries import Fields, JournalEntries, form_of, parse_entries
from bootlab.importers.systemd.units import ABOUT_MONOTONIC, MONOTONIC, phases_of
from bootlab.timeline.clock import Alignment, align
from bootlab.timeline.event import Event, Span
from bootlab.timeline.line_account import Fate
from bootlab.timeline.recording import MOST_SPANS, Recording
from bootlab.timeline.timeline import Timeline

# Catalogue ids of systemd's messages (src/systemd/sd-messages.h).
_STARTING: Final = "7d4958e842da4a758f6c1cdc7b36dcc5"
_STARTED: Final = "39f53479d3a045ac8e11786248231fbf"
_FINISHED: Final = "b07a249cd024414a82dd00cd181378ff"
_PARTS: Final = (
    ("firmware", "FIRMWARE_USEC"), ("loader", "LOADER_USEC"), ("kernel", "KERNEL_USEC"), ("initrd", "INITRD_USEC"),
    ("userspace", "USERSPACE_USEC"),
)  # fmt: skip
_LATEST_US: Final = 10**14


def recognise(head: Head) -> str:
    """Return in which form the journal is written, where the file is one."""
    form = form_of(head.data)
    return form and f"an entry of journalctl -o {form}"


def read(source: Source, options: Options) -> Recording:
    """Return the first boot of a journal. Raises FormatError for a file without an entry."""
    form = form_of(source.head.data)
    found = parse_entries(source.whole(), form) if form else JournalEntries()
    stamped = [(t_us * 1000, entry) for entry in found.entries if (t_us := _micros(entry, "__MONOTONIC_TIMESTAMP"))]
    if not stamped:
        raise source.expected('entries with a time, such as `{"__MONOTONIC_TIMESTAMP": "5242880", "MESSAGE": ...}`')
    boot = stamped[0][1].get("_BOOT_ID", "")
    mine = [(t_ns, entry) for t_ns, entry in stamped if entry.get("_BOOT_ID", "") == boot]
    _count(source.tally, found, len(stamped), mine)
    kernel_entries = [(t_ns, entry) for t_ns, entry in mine if entry.get("_TRANSPORT") == "kernel"]
    log = dmesg.log_of([_kernel_line(entry) for _, entry in kernel_entries])
    kernel = kernel_log.recording_of(log, IMPORTER.name, host_stamped=True)
    alignment = _alignment(kernel_entries)
    spans, unplaced = place_spans(kernel.timeline.spans, alignment)
    phases = _phases(mine)
    others = [(t_ns, entry) for t_ns, entry in mine if entry.get("_TRANSPORT") != "kernel"]
    events = [*_kernel_events(kernel_entries, alignment), *_events(others)]
    return Recording(
        format=IMPORTER.name,
        tool=f"journalctl -o {form}",
        timeline=Timeline.of(MONOTONIC, events[:MOST_SPANS], [*spans, *_units(others)][:MOST_SPANS]),
        about_clock=ABOUT_MONOTONIC,
        phases=phases,
        lengths=(*unplaced, *kernel.lengths)[:MOST_SPANS],
        facts={**kernel.facts, **({"boot": boot} if boot else {})},
        notes=(*_notes(kernel_entries, alignment, phases), *kernel.notes),
    )


def _count(tally: Tally, found: JournalEntries, stamped: int, mine: Sequence[tuple[int, Fields]]) -> None:
    tally.of_records("entries", len(found.entries) + found.damaged)
    kept = min(len(mine), MOST_SPANS)
    tally.add(Fate.USED, "entries with a time", kept, first=mine[0][1].get("MESSAGE", ""))
    tally.add(Fate.LEFT_OUT, f"more than {MOST_SPANS} of their kind", len(mine) - kept)
    tally.add(Fate.LEFT_OUT, "of another boot", stamped - len(mine))
    tally.add(Fate.LEFT_OUT, "without a time", len(found.entries) - stamped)
    tally.add(Fate.LEFT_OUT, "damaged", found.damaged, first=found.first_damaged)


def _micros(entry: Fields, name: str) -> int | None:
    text = entry.get(name, "")
    value = int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None
    return value if value is not None and value < _LATEST_US else None


def _kernel_line(entry: Fields) -> KernelLine:
    own_us = _micros(entry, "_SOURCE_MONOTONIC_TIMESTAMP")
    level = entry.get("PRIORITY", "")
    return KernelLine(
        own_us * 1000 if own_us is not None else None,
        int(level) if level in tuple("01234567") else None,
        None,
        entry.get("MESSAGE", ""),
    )


def _alignment(entries: Sequence[tuple[int, Fields]]) -> Alignment | None:
    pairs = [(own_us * 1000, t_ns) for t_ns, entry in entries
             if (own_us := _micros(entry, "_SOURCE_MONOTONIC_TIMESTAMP"))]  # fmt: skip
    try:
        return align(pairs, dmesg.PRINTK, MONOTONIC)
    except InputError:
        return None


def _kernel_events(entries: Sequence[tuple[int, Fields]], alignment: Alignment | None) -> Iterator[Event]:
    # By the kernel's own stamp where its clock is laid over this one, else by when journald received the line.
    for t_ns, entry in entries:
        own_us = _micros(entry, "_SOURCE_MONOTONIC_TIMESTAMP")
        if own_us is not None and alignment is not None and alignment.covers(own_us * 1000):
            t_ns = min(max(alignment.translate(own_us * 1000), 0), t_ns)
        yield Event(t_ns, "kernel", entry.get("MESSAGE", ""))


def _events(entries: Sequence[tuple[int, Fields]]) -> Iterator[Event]:
    for t_ns, entry in entries:
        yield Event(t_ns, "journal", f"{entry.get('SYSLOG_IDENTIFIER') or 'journal'}: {entry.get('MESSAGE', '')}")
        if entry.get("MESSAGE_ID") == _STARTED and entry.get("UNIT"):
            yield Event(t_ns, "systemd", f"active {entry['UNIT']}")


def _units(entries: Sequence[tuple[int, Fields]]) -> Iterator[Span]:
    begun: dict[str, int] = {}
    for t_ns, entry in entries:
        unit = entry.get("UNIT", "")
        if not unit:
            continue
        if entry.get("MESSAGE_ID") == _STARTING:
            begun[unit] = t_ns
        elif entry.get("MESSAGE_ID") == _STARTED and begun.get(unit, t_ns + 1) <= t_ns:
            yield Span(begun.pop(unit), t_ns, "unit", unit, about=entry.get("JOB_RESULT", ""))


def _phases(entries: Sequence[tuple[int, Fields]]) -> tuple[Span, ...]:
    said = next((entry for _, entry in entries if entry.get("MESSAGE_ID") == _FINISHED), {})
    parts = {name: micros * 1000 for name, key in _PARTS if (micros := _micros(said, key))}
    return phases_of(parts)


def _notes(entries: Sequence[tuple[int, Fields]], alignment: Alignment | None, phases: Sequence[Span]) -> Iterator[str]:
    ms = 1_000_000
    if alignment is not None:
        direction = "behind" if alignment.offset_ns >= 0 else "ahead of"
        yield (
            f"printk's clock is {abs(alignment.offset_ns) / ms:.3f} ms {direction} this one, "
            f"+- {alignment.uncertainty_ns / ms:.3f} ms, by {len(entries)} lines that bear both stamps."
        )
    elif entries:
        yield (
            "Too few of the kernel's lines bear both stamps to lay its clock over this one: they stand where journald "
            "received them, and lengths are by their own stamps."
        )
    if not phases:
        yield "systemd's message of the finished start-up is not in it, so there are no phases."


IMPORTER: Final = Importer(
    "journal", "the journal with its fields: journalctl -b -o json, -o export or -o verbose", recognise, read
)
