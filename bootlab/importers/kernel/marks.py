"""A kernel log with early marks -> Recording: `mark: setup_arch(): 94882358 (10978997)`, Red Hat's automotive kernels'.

The marks are readings of the processor's counter, taken before printk has a clock and printed once it has: all that is
known of those 0.7 s, which every stamp shows as zero. The kernel's own lines are placed on the same counter.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.kernel import dmesg
from bootlab.importers.kernel import log as kernel_log
from bootlab.importers.reading.source import Head, Source
from bootlab.timeline.clock import Alignment, Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import MOST_SPANS, Recording
from bootlab.timeline.timeline import Timeline

_NS_PER_S: Final = 1_000_000_000

# [    0.000033] mark: setup_arch(): 94882358 (10978997)       the counter when it returned; ticks since the mark before
_MARK = re.compile(r"mark: (?P<name>[\w.]{1,80})(?:\(\))?: (?P<ticks>\d{1,18})\b")
# Printed with the marks, else by the counter's driver: "arch_timer: cp15 timer(s) running at 19.20MHz (virt)."
_RATE = re.compile(r"Timer rate: (?P<hertz>\d{1,12}) Hz")
_ARCH_TIMER = re.compile(r"timer(?:\(s\))? running at (?P<mhz>\d{1,6})\.(?P<part>\d{2})MHz")


@dataclass(frozen=True, slots=True)
class EarlyMark:
    """`ticks`: the counter when the function returned (for the first mark: when it was entered).

    `stamp_ns`: the kernel's stamp of the line, which was printed later; None without one.
    """

    name: str
    ticks: int
    stamp_ns: int | None


def recognise(head: Head) -> str:
    """Return the first row with a mark in it."""
    return next((row for row in head.rows if _MARK.search(row)), "")


def read(source: Source, options: Options) -> Recording:
    """Return marks and kernel log on the counter's clock. Raises FormatError when there is no mark."""
    log = dmesg.parse(kernel_log.plain_text(source))
    marks = parse(log)
    if not marks:
        raise source.expected("lines such as `[    0.000033] mark: setup_arch(): 94882358 (10978997)`")
    kernel_log.count_lines(log, source.tally)
    hertz = options.tsc_hz or _rate(log)
    if not hertz:
        return _in_cycles(marks)
    ns = [mark.ticks * _NS_PER_S // hertz for mark in marks]
    clock = Clock("processor counter", max(1, -(-_NS_PER_S // hertz)))
    kernel = kernel_log.recording_of(log, IMPORTER.name)
    # A mark is read before its line is stamped. The least of the differences is that of the mark printed soonest.
    offsets = [t_ns - mark.stamp_ns for t_ns, mark in zip(ns, marks, strict=True) if mark.stamp_ns is not None]
    zero = max(offsets, default=None)
    timeline = Timeline.of(clock, _events(marks, ns), _spans(marks, ns))
    phases = [Span(0, ns[0], "phase", "before the kernel")]
    if zero is not None:
        shift = Alignment(dmesg.PRINTK, clock, zero, 0, -(1 << 62))
        timeline = timeline.merge(kernel.timeline.seen_by(shift))
        phases += [Span(ns[0], max(zero, ns[0]), "phase", "kernel, before its clock")]
        phases += [replace(one, start_ns=one.start_ns + zero, end_ns=one.end_ns + zero) for one in kernel.phases]
    return replace(
        kernel,
        timeline=Timeline(clock, timeline.events[:MOST_SPANS], timeline.spans[:MOST_SPANS]),
        about_clock="the counter that the marks read, since its reset; on arm64 that is the whole machine's",
        phases=tuple(phases),
        facts={**kernel.facts, "counter": f"{hertz} Hz"},
        notes=(
            "The kernel's stamps are placed on the counter by the mark that was printed soonest after it was read.",
            *kernel.notes,
        ),
    )


def parse(log: dmesg.KernelLog) -> list[EarlyMark]:
    """Return the marks of a kernel log in the order of their lines."""
    return [
        EarlyMark(found["name"], int(found["ticks"]), line.t_ns)
        for line in log.lines
        if (found := _MARK.search(line.text)) is not None
    ]


def _in_cycles(marks: list[EarlyMark]) -> Recording:
    ticks = [mark.ticks for mark in marks]
    return Recording(
        format=IMPORTER.name,
        tool="kernel marks",
        timeline=Timeline.of(Clock("processor counter", 1, unit="cycles"), _events(marks, ticks), _spans(marks, ticks)),
        about_clock="the counter that the marks read, since its reset",
        notes=(
            "The log does not say how fast the counter ran (`Timer rate: N Hz`, `arch_timer: ... running at N MHz`), "
            "so all times are cycles, and the kernel's own lines are not placed: --tsc-frequency gives the rate.",
        ),
    )


def _events(marks: list[EarlyMark], times: list[int]) -> list[Event]:
    return [Event(t_ns, "mark", mark.name) for t_ns, mark in zip(times, marks, strict=True)]


def _spans(marks: list[EarlyMark], times: list[int]) -> list[Span]:
    return [
        Span(start, end, "mark", mark.name, about="since the mark before")
        for start, end, mark in zip(times, times[1:], marks[1:], strict=False)
        if end >= start
    ]


def _rate(log: dmesg.KernelLog) -> int | None:
    for line in log.lines:
        if (found := _RATE.search(line.text)) is not None:
            return int(found["hertz"])
        if (found := _ARCH_TIMER.search(line.text)) is not None:
            return int(found["mhz"]) * 1_000_000 + int(found["part"]) * 10_000
    return None


IMPORTER: Final = Importer(
    "kernel-marks", "kernel log with early marks (mark: FUNCTION(): TICKS), of Red Hat's automotive kernels",
    recognise, read,
)  # fmt: skip
