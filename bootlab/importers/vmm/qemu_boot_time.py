"""qemu-boot-time -> Recording: how long QEMU, the firmware and the kernel took, by marks that perf saw on the host.

    1) pid 289738
     qemu_init_end: 43.123
     fw_start: 43.555 (+0.432)

Milliseconds since QEMU was executed. Several machines in a file are a series; behind them the script prints their mean,
least and most in the same form, which are no machines. A mark of somebody's own is `Exit point 10: 165.396804 (+0.7)`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Head, Source
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import MOST_SPANS, Recording, Series
from bootlab.timeline.timeline import Timeline

HOST: Final = Clock("host since QEMU's start", 1)
_MARKS: Final = {
    "qemu_init_end": "QEMU", "fw_start": "to the firmware", "fw_do_boot": "firmware",
    "linux_start_boot": "loading the kernel", "linux_start_fwcfg": "loading the kernel",
    "linux_start_kernel": "the kernel's own loader", "linux_start_user": "kernel",
}  # fmt: skip
"""Each mark, and the phase that ends with it."""
_ROW = re.compile(
    r"\s{0,9}(?P<name>[a-z_]{4,30}|Exit point \d{1,10}): (?P<ms>\d{1,9}(?:\.\d{1,9})?)"
    r"(?: \(\+?-?\d{1,9}(?:\.\d{1,9})?\))?\s{0,9}"
)
_MACHINE = re.compile(r"\d{1,6}\) pid \d{1,10}\s{0,9}")
_SUMMARY = re.compile(r"(?:Avg|Min|Max)\s{0,9}")
# kvm__kvm_pio             1 55061.467070650   289741 qemu-system-x86      rw=1, port=0xf5, size=1, count=1, val=1
_SEEN_BY_PERF = re.compile(r"(?:sched__sched_process_exec|kvm__\w{1,40}) {1,40}\d{1,6} {1,12}\d{1,9}\.\d{9} ")


def recognise(head: Head) -> str:
    """Return the first line that is one of the marks."""
    found = ((row, _ROW.fullmatch(row)) for row in head.rows)
    return next((row for row, match in found if match is not None and match["name"] in _MARKS), "")


def read(source: Source, options: Options) -> Recording:
    """Return the marks of the first machine, and of all as series. Raises FormatError when there is none."""
    machines: list[list[tuple[str, int]]] = []
    summary = False
    for _, row in source.rows():
        found = _ROW.fullmatch(row)
        known = found is not None and (found["name"] in _MARKS or found["name"].startswith("Exit"))
        if found is not None and known and summary:
            source.tally.aside("mean, least and most of the machines, which stand above")
        elif found is not None and known:
            source.tally.used("marks")
            name, whole = found["name"], found["ms"].partition(".")
            t_ns = int(whole[0]) * 1_000_000 + int(whole[2].ljust(9, "0")[:9]) // 1_000
            # Without a title a mark that comes again is the next machine's.
            if not machines or any(mark == name for mark, _ in machines[-1]):
                machines.append([])
            machines[-1].append((name, t_ns))
        elif _MACHINE.fullmatch(row) or _SUMMARY.fullmatch(row) or row.startswith(("in trace_", "Trace ")):
            summary = _SUMMARY.fullmatch(row) is not None
            source.tally.aside("titles")
        elif _SEEN_BY_PERF.match(row):
            source.tally.aside("events that the marks are made of")
        elif machines:
            source.tally.aside("other lines of perf's script")
    if not machines:
        raise source.expected("marks such as ` linux_start_user: 272.178335 (+94.8)`")
    first = machines[0]
    return Recording(
        format=IMPORTER.name,
        tool="qemu-boot-time",
        timeline=Timeline.of(HOST, [Event(t_ns, "mark", name) for name, t_ns in first][:MOST_SPANS]),
        about_clock="the host's clock; zero is when QEMU was executed",
        phases=tuple(_phases(first)),
        series=tuple(_series(machines)) if len(machines) > 1 else (),
        facts={"machines": str(len(machines))},
    )


def _phases(marks: Sequence[tuple[str, int]]) -> Iterator[Span]:
    before = 0
    for name, t_ns in sorted(marks, key=lambda mark: mark[1]):
        if name in _MARKS and t_ns > before:
            yield Span(before, t_ns, "phase", _MARKS[name])
            before = t_ns


def _series(machines: Sequence[Sequence[tuple[str, int]]]) -> Iterator[Series]:
    own = {mark for machine in machines for mark, _ in machine if mark not in _MARKS}
    for name in (*_MARKS, *sorted(own)):
        values = tuple(float(t_ns) for machine in machines for mark, t_ns in machine if mark == name)
        if values:
            yield Series(name, "ns", values[:1000])


IMPORTER: Final = Importer(
    "qemu-boot-time", "qemu-boot-time's marks of QEMU, firmware and kernel (perf script)", recognise, read
)
