"""How much room a file or a folder takes on its disk: blocks, not lengths, since images have holes."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_BLOCK: Final = 512
"""Bytes: the unit of st_blocks on every Linux file system."""


@dataclass(slots=True)
class DiskUsage:
    """What was counted of one place."""

    disk_bytes: int = 0
    unreadable: list[str] = field(default_factory=list)
    """Folders that this user may not read: what they hold is not counted."""


def disk_usage(place: Path, looked: Callable[[], None] = lambda: None) -> DiskUsage:
    """Return how much room `place` takes; no link is followed, and a file that has several names counts once.

    `looked()` is called at each folder on the way. What vanishes meanwhile counts nothing. Never an error.
    """
    usage, seen = DiskUsage(), set[tuple[int, int]]()
    for facts in _facts(place, usage, looked):
        if facts.st_nlink > 1:
            if (facts.st_dev, facts.st_ino) in seen:
                continue
            seen.add((facts.st_dev, facts.st_ino))
        usage.disk_bytes += facts.st_blocks * _BLOCK
    return usage


def _facts(place: Path, usage: DiskUsage, looked: Callable[[], None]) -> Iterator[os.stat_result]:
    try:
        facts = os.lstat(place)
    except OSError:
        return
    yield facts
    left = [str(place)] if os.path.isdir(place) and not os.path.islink(place) else []
    while left:
        folder = left.pop()
        looked()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    try:
                        yield entry.stat(follow_symlinks=False)
                        if entry.is_dir(follow_symlinks=False):
                            left.append(entry.path)
                    except FileNotFoundError:
                        continue
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            usage.unreadable.append(folder)
