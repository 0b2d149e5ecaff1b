"""What modelled disks were asked for, request by request, as the plugin wrote it down (plugin/trace_format.h):

bootlab-requests 1
rootfs read 2048 8 1071113242 1071113242 1079443109
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from bootlab.errors import InputError

REQUESTS: Final = "requests.txt"
"""In a boot's directory."""
WRITES: Final = "writes.bin"
"""Beside it, the bytes that were written to disks with `keep_writes`."""

FIRST_LINE: Final = "bootlab-requests 1\n"
"""Of the list of requests."""
_OPERATIONS: Final = ("read", "write", "flush")
_WORDS: Final = 7
_SECTOR: Final = 512


@dataclass(frozen=True, slots=True)
class DiskRequest:
    """One request of a modelled disk. Times are ns since power-on: asked for, begun, its answer shown to the guest.

    `offset`: where the bytes of a write begin in `WRITES`; None where they were not kept.
    """

    drive: str
    operation: str
    sector: int
    sectors: int
    asked_ns: int
    started_ns: int
    done_ns: int
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class DiskUse:
    """What one modelled disk did. `busy_ns`: somebody waited for it; `waited_ns`: all requests' times added up.

    `passed_bytes`: what lies between the end of a read and the beginning of the next, added up, as the disk did them.
    """

    reads: int
    read_bytes: int
    writes: int
    written_bytes: int
    flushes: int
    busy_ns: int
    waited_ns: int
    longest_ns: int
    passed_bytes: int


def disk_use(requests: Iterable[DiskRequest], until_ns: int | None = None, since_ns: int = 0) -> dict[str, DiskUse]:
    """Return what each drive did for requests asked before `until_ns`, all where it is None; of each what lies before.

    And of these for requests asked since `since_ns`.

    A request that nobody saw the answer of is not among `requests`, and not in here.
    """
    kept: dict[str, list[DiskRequest]] = {}
    for request in requests:
        if request.asked_ns >= since_ns and (until_ns is None or request.asked_ns < until_ns):
            kept.setdefault(request.drive, []).append(request)
    return {drive: _use(asked, until_ns) for drive, asked in kept.items()}


def _use(requests: list[DiskRequest], until_ns: int | None) -> DiskUse:
    reads = [request for request in requests if request.operation == "read"]
    writes = [request for request in requests if request.operation == "write"]
    spans = [(asked.asked_ns, min(asked.done_ns, until_ns or asked.done_ns)) for asked in requests]
    busy_ns = reached = 0
    for start, end in sorted(spans):
        busy_ns += max(0, end - max(start, reached))
        reached = max(reached, end)
    return DiskUse(
        reads=len(reads),
        read_bytes=_SECTOR * sum(request.sectors for request in reads),
        writes=len(writes),
        written_bytes=_SECTOR * sum(request.sectors for request in writes),
        flushes=len(requests) - len(reads) - len(writes),
        busy_ns=busy_ns,
        waited_ns=sum(end - start for start, end in spans),
        longest_ns=max(end - start for start, end in spans),
        passed_bytes=_SECTOR * _passed(sorted(reads, key=lambda read: (read.started_ns, read.done_ns))),
    )


def _passed(reads: list[DiskRequest]) -> int:
    return sum(abs(after.sector - before.sector - before.sectors) for before, after in pairwise(reads))


def read_disk_requests(path: Path) -> Iterator[DiskRequest]:
    """Yield the requests of a file in the order of their answers; what a killed QEMU had no time to finish is left out.

    Raises InputError for a file that is damaged, OSError for one that cannot be read.
    """
    with path.open(encoding="ascii", errors="replace") as file:
        if (first := file.readline(len(FIRST_LINE))) != FIRST_LINE and first.endswith("\n"):
            raise InputError(f"{path}:1: not a list of requests that this bootlab reads")
        for number, line in enumerate(file, start=2):
            if line.endswith("\n"):
                yield _parse(line, f"{path}:{number}")


def _parse(line: str, where: str) -> DiskRequest:
    words = line.split()
    kept = len(words) == _WORDS + 1 and words[1] == "write"
    if (len(words) == _WORDS or kept) and words[1] in _OPERATIONS and all(word.isdecimal() for word in words[2:]):
        sector, sectors, asked, started, done, *offset = (int(word) for word in words[2:])
        if asked <= started <= done:
            return DiskRequest(words[0], words[1], sector, sectors, asked, started, done, *offset)
    raise InputError(f"{where}: not a request: {line[:80].rstrip()!r}")
