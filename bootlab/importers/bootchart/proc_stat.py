"""Lines of /proc as bootchart's collectors sample them: what a process, a CPU and a disk have done so far."""

import re
from dataclasses import dataclass
from typing import Final

_DISK: Final = re.compile(r"(?:[hsv]d[a-z]{1,3}|xvd[a-z]{1,3}|nvme\d{1,4}n\d{1,4}|mmcblk\d{1,4})")
_SECTOR: Final = 512
_DISK_FIELDS: Final = (14, 18, 20)
"""Linux 2.6, with discards since 4.18, with flushes since 5.5; more may come, and the first 14 stay."""
_MOST: Final = 2**64 - 1


@dataclass(frozen=True, slots=True)
class ProcessSample:
    """One line of /proc/PID/stat. Times are in 1/100 s, as the kernel gives them to user space."""

    pid: int
    name: str
    state: str
    parent: int
    cpu: int
    """User and system time so far."""
    started: int
    """Since the kernel's start."""


@dataclass(frozen=True, slots=True)
class DiskSample:
    """One whole disk's line of /proc/diskstats."""

    name: str
    read_bytes: int
    written_bytes: int
    busy_ms: int


def parse_process(row: str) -> ProcessSample | None:
    """Return a line of /proc/PID/stat. A name may hold blanks and brackets; the last `)` ends it.

    None for what is no such line, or only a part of one.
    """
    opening, closing = row.find("("), row.rfind(")")
    if opening < 0 or closing < opening:
        return None
    fields = row[closing + 1 :].split()
    try:
        # proc(5) counts from 1, and the state is the third.
        return ProcessSample(
            _counter(row[:opening]), row[opening + 1 : closing][:64], fields[0], _counter(fields[1]),
            _counter(fields[11]) + _counter(fields[12]), _counter(fields[19]),
        )  # fmt: skip
    except (ValueError, IndexError):
        return None


def parse_cpu(row: str) -> tuple[int, ...] | None:
    """Return the counters of the line `cpu  ...` of /proc/stat: user, nice, system, idle, iowait, irq, softirq, ...

    None for any other line.
    """
    fields = row.split()
    if len(fields) < 5 or fields[0] != "cpu":
        return None
    try:
        return tuple(_counter(field) for field in fields[1:11])
    except ValueError:
        return None


def parse_disk(row: str) -> DiskSample | None:
    """Return a whole disk's line of /proc/diskstats, nvme included; None for partitions and anything else."""
    fields = row.split()
    if len(fields) < _DISK_FIELDS[0] or _DISK.fullmatch(fields[2]) is None:
        return None
    try:
        return DiskSample(fields[2], _counter(fields[5]) * _SECTOR, _counter(fields[9]) * _SECTOR, _counter(fields[12]))
    except ValueError:
        return None


def _counter(field: str) -> int:
    # The kernel's are of 64 bits at most; raises ValueError for anything else.
    value = int(field)
    if not 0 <= value <= _MOST:
        raise ValueError(field)
    return value
