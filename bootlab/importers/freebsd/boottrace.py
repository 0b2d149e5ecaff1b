"""FreeBSD's boottrace(4) -> Recording: the table of `sysctl -n kern.boottrace.log`.

Format: boottrace_display() in sys/kern/kern_boottrace.c of FreeBSD 14.3. A table of boot time and one of run time
follow each other, each with a title and a sum. Process and event may hold blanks.
"""

import re
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

TICKS: Final = Clock("freebsd cpu_ticks", 1_000_000)

_TITLE = re.compile(r"CPU +msecs +delta +process +event +PID CPUtime +IBlks +OBlks")
# "%3u %10llu %10llu %-24s %-40s %5d %4d.%02d %5u %5u"
_ROW = re.compile(
    r" {0,9}(?P<cpu>\d{1,5}) {1,12}(?P<msecs>\d{1,12}) {1,12}(?P<delta>\d{1,12}) (?P<names>.{3,100}?) +"
    r"(?P<pid>-?\d{1,9}) +\d{1,9}\.\d{2} +(?P<in>\d{1,10}) +(?P<out>\d{1,10}) *"
)
_TOTAL = re.compile(r"Total measured time: (?P<msecs>\d{1,12}) msecs")
_LONGEST_ROW = 400
_PROCESS_WIDE = 24
# sysinit 0x2100001: which group of initialisations has ended
_SYSINIT = re.compile(r"sysinit 0x[0-9a-f]{1,16}")


@dataclass(frozen=True, slots=True)
class BoottraceEvent:
    """One event. `table`: 0 for boot, 1 for run time. `since_ns`: since the event before it, whose row may be cut."""

    table: int
    t_ns: int
    since_ns: int
    cpu: int
    process: str
    name: str
    pid: int


def recognise(head: Head) -> str:
    """Return the table's title, or a row of it where its title was cut off."""
    told = next((row for row in head.rows if _TITLE.search(row)), "")
    rows = [row for row in head.rows if _ROW.fullmatch(row)]
    return told or (rows[0] if len(rows) >= 2 and 2 * len(rows) >= sum(bool(row.strip()) for row in head.rows) else "")


def read(source: Source, options: Options) -> Recording:
    """Return the events of both tables. Raises FormatError when there is none."""
    totals: list[int] = []
    rows = list(parse((row for _, row in source.rows()), totals, source.tally))
    if not rows:
        raise source.expected("a table of kern.boottrace.log, titled `CPU msecs delta process event ...`")
    boot = sorted((row for row in rows if row.table == 0), key=lambda row: row.t_ns)
    notes = ["Times are whole milliseconds."]
    if totals and boot and totals[0] * 1_000_000 != boot[-1].t_ns - boot[0].t_ns:
        notes.append(
            f"The kernel says that boot took {totals[0]} ms, its first and last event are further apart or nearer."
        )
    # The kernel prints whole milliseconds of both, so they may differ by one.
    cut = [row.name for one, row in zip(boot, boot[1:], strict=False) if row.t_ns - one.t_ns > row.since_ns + 1_000_000]
    if cut:
        notes.append(
            f"Rows are missing before {len(cut)} of the events, the first {cut[0]}: these are as long as their own "
            "column says, and what the missing ones took is in no entry."
        )
    return Recording(
        format=IMPORTER.name,
        tool="FreeBSD boottrace",
        timeline=Timeline.of(
            TICKS,
            [Event(row.t_ns, row.process, row.name) for row in rows][:MOST_SPANS],
            [
                Span(
                    max(one.t_ns, other.t_ns - other.since_ns),
                    other.t_ns,
                    "until",
                    other.name,
                    about=f"{other.process}, pid {other.pid}, CPU {other.cpu}",
                )
                for one, other in zip(boot, boot[1:], strict=False)
                if other.t_ns > max(one.t_ns, other.t_ns - other.since_ns)
            ][:MOST_SPANS],
        ),
        about_clock="the processor's counter, which begins when the processor is reset and not with the kernel",
        phases=tuple(_phases(boot)),
        facts={"events": str(len(rows))},
        notes=tuple(notes),
    )


def parse(rows: Iterable[str], totals: list[int] | None = None, tally: Tally | None = None) -> Iterator[BoottraceEvent]:
    """Yield the events in their order. `totals` is given the sums below the tables, in ms."""
    table, tally = -1, tally or Tally()
    for row in rows:
        if len(row) > _LONGEST_ROW:
            continue
        if _TITLE.search(row):
            table += 1
            tally.aside("titles of the tables")
        elif (found := _ROW.fullmatch(row)) is not None:
            tally.used("events")
            process, name = _two_names(found["names"])
            t_ns = int(found["msecs"]) * 1_000_000
            since_ns = int(found["delta"]) * 1_000_000
            yield BoottraceEvent(
                min(max(table, 0), 1), t_ns, since_ns, int(found["cpu"]), process, name, int(found["pid"])
            )
        elif totals is not None and (total := _TOTAL.match(row)) is not None:
            tally.used("sums of the tables")
            totals.append(int(total["msecs"]))


def _two_names(names: str) -> tuple[str, str]:
    # By column; in a table that was squeezed on its way, at the first gap.
    if names[_PROCESS_WIDE : _PROCESS_WIDE + 1] == " ":
        return names[:_PROCESS_WIDE].strip() or "?", names[_PROCESS_WIDE:].strip() or "?"
    process, _, name = names.strip().partition("  " if "  " in names.strip() else " ")
    return process or "?", name.strip() or "?"


def _phases(boot: list[BoottraceEvent]) -> Iterator[Span]:
    # The kernel's own initialisation, then everything that traced itself after it.
    kernel = [row for row in boot if _SYSINIT.match(row.name)]
    if kernel:
        yield Span(boot[0].t_ns, kernel[-1].t_ns, "phase", "kernel")
        yield Span(kernel[-1].t_ns, boot[-1].t_ns, "phase", "programs")


IMPORTER: Final = Importer(
    name="boottrace", title="FreeBSD boottrace(4): sysctl -n kern.boottrace.log", recognise=recognise, read=read
)
