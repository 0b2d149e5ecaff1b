"""What a disk holds when its power is cut, at any moment of a boot that kept all that was written (`keep_writes`).

A disk may keep in its cache what it has answered, and may write that in any order; a flush that it has answered
promises that all which was answered before the flush was asked for is there. So of everything else a random part is
lost, and what is being written may be torn between two sectors. One exact boot is enough for any number of cuts.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.errors import InputError
from bootlab.profile.recorded.disk_requests import REQUESTS, WRITES, DiskRequest, read_disk_requests

_SECTOR: Final = 512


@dataclass(frozen=True, slots=True)
class PowerCut:
    """One cut. `ignores_flush`: of a disk that says that it has flushed, and has not."""

    t_ns: int
    seed: int
    ignores_flush: bool = False


def requests_of(boot: Path, drive: str) -> list[DiskRequest]:
    """Return what a drive was asked for in a recorded boot. Raises InputError where its writes were not kept."""
    requests = [request for request in read_disk_requests(boot / REQUESTS) if request.drive == drive]
    if any(request.operation == "write" and request.offset is None for request in requests):
        raise InputError(f"{boot}: what was written to {drive} was not kept", hint="keep_writes = true on this disk")
    return sorted(requests, key=lambda request: request.asked_ns)


def cut_power(boot: Path, requests: Sequence[DiskRequest], cut: PowerCut, image: Path) -> tuple[int, int]:
    """Write into `image`, which holds the disk as it was at power-on, what of `requests_of` the boot survives the cut.

    Returns how many writes are promised, and how many others of those asked for by then are lost as a whole. Raises
    InputError for a file of writes that is too short, OSError.
    """
    chance = random.Random(f"{cut.seed} {cut.t_ns}")
    flushes = [request for request in requests if request.operation == "flush" and request.done_ns <= cut.t_ns]
    promised_ns = -1 if cut.ignores_flush else max((flush.asked_ns for flush in flushes), default=-1)
    promised = lost = 0
    with (boot / WRITES).open("rb") as writes, image.open("r+b") as disk:
        for request in requests:
            if request.operation != "write" or request.offset is None or request.asked_ns >= cut.t_ns:
                continue
            first, last = 0, request.sectors
            if request.done_ns <= promised_ns:
                promised += 1
            elif chance.random() < 0.5:
                lost += 1
                continue
            elif chance.random() < 0.25:
                first, last = sorted(chance.randint(0, request.sectors) for _ in range(2))
            writes.seek(request.offset + first * _SECTOR)
            data = writes.read((last - first) * _SECTOR)
            if len(data) != (last - first) * _SECTOR:
                raise InputError(f"{boot / WRITES}: ends within a write")
            disk.seek((request.sector + first) * _SECTOR)
            disk.write(data)
    return promised, lost
