"""What was asked of modelled disks, by the file that it lies in."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from bootlab.profile.recorded.disk_files import FilePiece
from bootlab.profile.recorded.disk_requests import DiskRequest
from bootlab.profile.tables.plain_data import Result

_SECTOR: Final = 512
NO_FILE: Final = ""
"""The path of what lies in no file: tables of the file system, its journal, free blocks."""


@dataclass(frozen=True, slots=True)
class DiskFile(Result):
    """What a disk was asked of one file. `waited_ns`: from asked to answered, added up; of a request of several files
    each has the part of its bytes. `requests`: all in which any of its bytes were.
    """

    drive: str
    path: str
    requests: int
    read_bytes: int
    written_bytes: int
    waited_ns: int


@dataclass(slots=True)
class _Sum:
    requests: int = 0
    sectors: dict[str, int] = field(default_factory=dict)
    waited_ns: int = 0


def find_disk_files(
    requests: Iterable[DiskRequest], pieces: Mapping[str, Sequence[FilePiece]], until_ns: int
) -> tuple[DiskFile, ...]:
    """Return what was asked of each file before `until_ns`, the longest wait first.

    `pieces`: of each drive, in the order of the disk; a drive that is not among them is left out.
    """
    starts = {drive: [piece.sector for piece in of] for drive, of in pieces.items()}
    sums: dict[tuple[str, str], _Sum] = {}
    for request in requests:
        if request.asked_ns >= until_ns or request.drive not in pieces or not request.sectors:
            continue
        waited_ns = min(request.done_ns, until_ns) - request.asked_ns
        shares = _shares(request, pieces[request.drive], starts[request.drive])
        for path, sectors in shares.items():
            of = sums.setdefault((request.drive, path), _Sum())
            of.requests += 1
            of.sectors[request.operation] = of.sectors.get(request.operation, 0) + sectors
            of.waited_ns += waited_ns * sectors // request.sectors
    found = [
        DiskFile(
            drive,
            path,
            of.requests,
            of.sectors.get("read", 0) * _SECTOR,
            of.sectors.get("write", 0) * _SECTOR,
            of.waited_ns,
        )
        for (drive, path), of in sums.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.waited_ns, one.drive, one.path)))


def _shares(request: DiskRequest, pieces: Sequence[FilePiece], starts: Sequence[int]) -> dict[str, int]:
    """Return how many sectors of a request lie in which file."""
    shares: dict[str, int] = {}
    end = request.sector + request.sectors
    left = request.sectors
    for index in range(max(0, bisect_right(starts, request.sector) - 1), len(pieces)):
        piece = pieces[index]
        if piece.sector >= end:
            break
        common = min(end, piece.sector + piece.sectors) - max(request.sector, piece.sector)
        if common > 0:
            shares[piece.path] = shares.get(piece.path, 0) + common
            left -= common
    if left > 0:
        shares[NO_FILE] = left
    return shares
