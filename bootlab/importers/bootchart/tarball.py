"""bootchart's tarballs (bootchart2, the older shell collectors) -> Recording: processes, CPU, disks, the kernel's log.

Logs are blocks of `TIME`, raw text of /proc, and an empty line; TIME is in 1/100 s since the kernel's start. What was
sampled is only as fine as the samples are; when a process began is exact to 1/100 s, because /proc says so.
"""

import io
import re
import struct
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Final

from bootlab.importers.bootchart.proc_stat import DiskSample, parse_cpu, parse_disk, parse_process
from bootlab.importers.importer import Importer, Options
from bootlab.importers.kernel import dmesg
from bootlab.importers.kernel import log as kernel_log
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.reading.unpacking import DAMAGE
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Span
from bootlab.timeline.recording import MOST_SPANS, Length, Recording
from bootlab.timeline.timeline import Timeline

UPTIME: Final = Clock("uptime", 10_000_000)
"""The kernel's uptime in 1/100 s."""
_TICK_NS: Final = 10_000_000
_MOST_BYTES: Final = 64 * 1024 * 1024
_MOST_MEMBERS: Final = 64
_MOST_EMPTY: Final = 4
_TIME = re.compile(r"\d{1,12}")
# pid ppid (comm) cpu_ns blkio_ns swapin_ns
_TASK = re.compile(r"(\d{1,10}) (\d{1,10}) \((.*)\) (\d{1,19}) (\d{1,19}) (\d{1,19})\s*")
_HEADER = re.compile(r"(?P<key>[\w.]{1,64}) = (?P<value>.*)")
_CPU_NAMES: Final = ("user", "nice", "system", "idle", "waiting for disks", "interrupts", "soft interrupts", "stolen")
_LOGS: Final = ("proc_stat.log", "proc_ps.log", "proc_diskstats.log", "taskstats.log", "header")
# struct acct_v3 of include/uapi/linux/acct.h: flag, version, tty, exit code, uid, gid, pid, ppid, begin, elapsed,
# times, memory, io, blocks, faults, swaps, name.
_ACCOUNT = struct.Struct("<BBHIIIIIIf8H16s")
_ACCOUNT_VERSION: Final = 3


@dataclass
class _Process:
    name: str
    parent: int
    started: int
    first: int
    """When it was first seen: some systems' stamps of processes lie after that."""
    seen: int
    cpu_ns: int = 0
    waited_ns: int = 0


@dataclass
class _Chart:
    header: dict[str, str] = field(default_factory=dict)
    processes: dict[tuple[int, int], _Process] = field(default_factory=dict)
    """Processes by pid and start: a pid may be used again."""
    tasks: dict[int, _Process] = field(default_factory=dict)
    """Processes of taskstats, by pid."""
    parents: dict[int, int] = field(default_factory=dict)
    cpu: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    disks: dict[str, tuple[DiskSample, DiskSample]] = field(default_factory=dict)
    """First and last sample."""
    commands: dict[int, str] = field(default_factory=dict)
    accounts: list[tuple[str, int, float]] = field(default_factory=list)
    kernel: Recording | None = None
    samples: int = 0
    not_running: int = 0
    broken_rows: int = 0


def recognise(head: Head) -> str:
    """Return which of bootchart's logs is near the beginning of a tar archive."""
    if head.data[257:262] != b"ustar" and head.data[257:265] != bytes(8):
        return ""
    names = (head.data[at : at + 100].split(b"\0")[0].decode(errors="replace").rpartition("/")[2]
             for at in range(0, min(len(head.data), 8192), 512))  # fmt: skip
    name = next((name for name in names if name in _LOGS), "proc_stat.log" if b"proc_stat.log" in head.data else "")
    return name and f"a tar archive with {name} in it"


def read(source: Source, options: Options) -> Recording:
    """Return the chart. Raises FormatError for a damaged archive, and for one without any of bootchart's logs."""
    chart, found = _Chart(), set()
    try:
        with tarfile.open(fileobj=_Ending(source.stream), mode="r|") as archive:
            for number, member in enumerate(archive):
                name = member.name.rpartition("/")[2]
                if number >= _MOST_MEMBERS:
                    break
                stream = archive.extractfile(member) if member.isreg() and name in _READERS else None
                if stream is not None:
                    found.add(name)
                    _READERS[name](_data(source, name, stream), chart)
    except (tarfile.TarError, ValueError, OverflowError, *DAMAGE) as error:
        raise source.expected("a tar archive of bootchart's logs", got=str(error)) from error
    if not found & set(_LOGS[:4]):
        raise source.expected(f"an archive with one of {', '.join(_LOGS[:4])}", got=", ".join(sorted(found)))
    return _recording(chart)


class _Ending(io.RawIOBase):
    """A stream that raises when it is read on and on beyond its end, as tarfile does where a header claims too much."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._empty = 0

    def read(self, size: int = -1, /) -> bytes:
        data = self._stream.read(size)
        self._empty = 0 if data else self._empty + 1
        if self._empty > _MOST_EMPTY:
            raise EOFError("it ends in the middle of a member")
        return data


def blocks(data: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield the blocks of a log: time in 1/100 s, lines. One that ends in `not running` is the collector's end."""
    for block in data.decode(errors="replace").split("\n\n"):
        first, *rows = block.lstrip("\n").split("\n")
        if _TIME.fullmatch(first.strip()) and rows and not rows[-1].endswith(" not running"):
            yield int(first), rows


def _data(source: Source, name: str, stream: IO[bytes]) -> bytes:
    # What the archive says of its size is not asked.
    data = stream.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise source.expected(f"{name} of at most {_MOST_BYTES // 1024**2} MiB")
    return data


def _take_header(data: bytes, chart: _Chart) -> None:
    for row in data[:65536].decode(errors="replace").splitlines()[:100]:
        if (found := _HEADER.fullmatch(row.strip())) is not None:
            chart.header[found["key"]] = found["value"][:4096]


def _take_processes(data: bytes, chart: _Chart) -> None:
    for at, rows in blocks(data):
        chart.samples += 1
        for row in rows:
            sample = parse_process(row)
            if sample is None:
                chart.broken_rows += bool(row.strip())
            elif len(chart.processes) < MOST_SPANS or (sample.pid, sample.started) in chart.processes:
                key = (sample.pid, sample.started)
                one = chart.processes.setdefault(key, _Process(sample.name, sample.parent, sample.started, at, at))
                # A process takes its last name when it executes a program.
                one.name, one.seen, one.cpu_ns = sample.name, at, sample.cpu * _TICK_NS


def _take_tasks(data: bytes, chart: _Chart) -> None:
    for at, rows in blocks(data):
        chart.samples += 1
        for row in rows:
            found = _TASK.fullmatch(row)
            if found is None:
                chart.broken_rows += bool(row.strip())
                continue
            pid = int(found[1])
            if len(chart.tasks) < MOST_SPANS or pid in chart.tasks:
                one = chart.tasks.setdefault(pid, _Process(found[3][:64], int(found[2]), at, at, at))
                one.name, one.seen, one.cpu_ns, one.waited_ns = found[3][:64], at, int(found[4]), int(found[5])


def _take_cpu(data: bytes, chart: _Chart) -> None:
    for at, rows in blocks(data):
        if (counters := parse_cpu(rows[0])) is not None:
            chart.cpu.append((at, counters))


def _take_disks(data: bytes, chart: _Chart) -> None:
    for _, rows in blocks(data):
        for row in rows:
            if (sample := parse_disk(row)) is not None and (sample.name in chart.disks or len(chart.disks) < 1000):
                first, _ = chart.disks.get(sample.name, (sample, sample))
                chart.disks[sample.name] = (first, sample)


def _take_parents(data: bytes, chart: _Chart) -> None:
    for row in data.decode(errors="replace").splitlines():
        fields = row.split()
        if len(fields) == 2 and all(_TIME.fullmatch(one) for one in fields) and len(chart.parents) < MOST_SPANS:
            chart.parents[int(fields[0])] = int(fields[1])


def _take_commands(data: bytes, chart: _Chart) -> None:
    # pid, then `:` and the program, then `:` and its arguments, which end in NUL each.
    for block in data.decode(errors="replace").split("\n\n"):
        pid, *rows = block.strip("\n").split("\n")
        if _TIME.fullmatch(pid) and rows and len(chart.commands) < MOST_SPANS:
            chart.commands[int(pid)] = rows[-1].lstrip(":").rstrip("\0").replace("\0", " ")[:256]


def _take_accounts(data: bytes, chart: _Chart) -> None:
    for at in range(0, len(data) - _ACCOUNT.size + 1, _ACCOUNT.size):
        fields = _ACCOUNT.unpack_from(data, at)
        # The top bit of the version is set by big-endian machines.
        if fields[1] & 0x7F == _ACCOUNT_VERSION and len(chart.accounts) < MOST_SPANS:
            name = fields[-1].split(b"\0")[0].decode(errors="replace")
            elapsed = fields[9] if 0 <= fields[9] < 1e12 else 0.0
            chart.accounts.append((name, fields[6], elapsed))


def _take_kernel_log(data: bytes, chart: _Chart) -> None:
    chart.kernel = kernel_log.recording_of(dmesg.parse(data.decode(errors="replace")), IMPORTER.name)


def _recording(chart: _Chart) -> Recording:
    spans = [_span(pid, one, chart) for (pid, _), one in chart.processes.items()]
    spans += [_span(pid, one, chart) for pid, one in chart.tasks.items()]
    if chart.kernel is not None:
        spans += chart.kernel.timeline.spans[: max(MOST_SPANS - len(spans), 0)]
    facts = {key.removeprefix("system."): value for key, value in chart.header.items() if value}
    return Recording(
        format=IMPORTER.name,
        tool=f"bootchart {chart.header.get('version', '')}".strip(),
        timeline=Timeline.of(UPTIME, [], spans),
        about_clock="the kernel's uptime, as the collector read it",
        lengths=tuple(_lengths(chart)),
        facts=facts,
        notes=tuple(_notes(chart)),
    )


def _span(pid: int, one: _Process, chart: _Chart) -> Span:
    parent = chart.parents.get(pid, one.parent)
    about = [f"pid {pid}, parent {parent}, CPU {one.cpu_ns / 1e6:.0f} ms"]
    about += [f"waited for disks {one.waited_ns / 1e6:.0f} ms"] if one.waited_ns else []
    about += [chart.commands[pid]] if pid in chart.commands else []
    start, end = min(one.started, one.first) * _TICK_NS, one.seen * _TICK_NS
    return Span(start, end, "process", one.name, about="; ".join(about))


def _lengths(chart: _Chart) -> Iterator[Length]:
    if len(chart.cpu) > 1:
        first, last = chart.cpu[0][1], chart.cpu[-1][1]
        for name, before, after in zip(_CPU_NAMES, first, last, strict=False):
            yield Length(max(after - before, 0) * _TICK_NS, "all CPUs", name)
    for (pid, _), one in [*chart.processes.items(), *(((pid, 0), one) for pid, one in chart.tasks.items())]:
        if one.cpu_ns > 0:
            yield Length(one.cpu_ns, "process CPU", f"{one.name} [{pid}]")
    for name, (begin, end) in chart.disks.items():
        moved = (end.read_bytes - begin.read_bytes, end.written_bytes - begin.written_bytes)
        about = f"read {moved[0] / 1e6:.1f} MB, wrote {moved[1] / 1e6:.1f} MB"
        yield Length(max(end.busy_ms - begin.busy_ms, 0) * 1_000_000, "disk", name, about)
    for name, pid, elapsed in chart.accounts:
        yield Length(int(elapsed * _TICK_NS), "accounted process", name, f"pid {pid}, ended")


def _notes(chart: _Chart) -> Iterator[str]:
    if chart.samples:
        yield (
            f"{chart.samples} samples: what lived between two of them is not in it, and a process ends where it was "
            "last seen."
        )
    if chart.broken_rows:
        yield f"{chart.broken_rows} lines were cut or mixed up and were passed over."
    if chart.kernel is not None and chart.kernel.timeline.spans:
        yield "Initcalls are on printk's clock, which the kernel starts at about the same moment as its uptime."
    if chart.kernel is not None:
        yield from chart.kernel.notes


_READERS: Final[dict[str, Callable[[bytes, _Chart], None]]] = {
    "header": _take_header,
    "proc_ps.log": _take_processes,
    "taskstats.log": _take_tasks,
    "proc_stat.log": _take_cpu,
    "proc_diskstats.log": _take_disks,
    "paternity.log": _take_parents,
    "cmdline2.log": _take_commands,
    "kernel_pacct": _take_accounts,
    "dmesg": _take_kernel_log,
}

IMPORTER: Final = Importer("bootchart", "a bootchart or bootchart2 tarball (/var/log/bootchart.tgz)", recognise, read)
