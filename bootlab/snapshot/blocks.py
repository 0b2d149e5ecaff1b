"""Which blocks of a disk a machine knew when it was kept, and which of another disk are not the same.

A machine that was kept with `reads` has all that it ever read or wrote in the file of its writes, by QEMU's copy on
read: every request of firmware, bootloader and kernel goes through it, whatever driver made it. So what is in there is
what the guest can know of the disk, exactly and no less: a change anywhere else has not been seen by anybody.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.process import run

BLOCK: Final = 4096
"""Bytes of a block, and of a cluster of the files that keep what was read: the guest's page."""
_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class ChangedDisk:
    """How another disk differs from the one that a machine was kept with.

    `changed`: its blocks that are not the same; `known`: of these, those that the machine had read or written.
    `first`: byte at which the first of the known begins.
    """

    changed: int
    known: int
    first: int | None


def known_blocks(overlay: Path) -> list[tuple[int, int]]:
    """Return what is in the file of a disk's reads and writes, as (first byte, byte behind the last), ascending.

    Raises MissingTool, ProgramFailed.
    """
    told = run(["qemu-img", "map", "--output=json", "-f", "qcow2", overlay], package="qemu-utils").stdout
    return [(one["start"], one["start"] + one["length"]) for one in json.loads(told) if one["present"]]


def compare_disks(before: Path, after: Path, known: list[tuple[int, int]]) -> ChangedDisk:
    """Return how `after`, which is as long as `before`, differs from it. Raises OSError."""
    changed, seen, first, spans = 0, 0, None, iter(known)
    span = next(spans, None)
    for start in _changed_blocks(before, after):
        changed += 1
        while span is not None and span[1] <= start:
            span = next(spans, None)
        if span is not None and span[0] < start + BLOCK:
            seen += 1
            first = start if first is None else first
    return ChangedDisk(changed, seen, first)


def _changed_blocks(before: Path, after: Path) -> Iterator[int]:
    with before.open("rb") as one, after.open("rb") as other:
        for start in range(0, after.stat().st_size, _PIECE):
            mine, yours = one.read(_PIECE), other.read(_PIECE)
            if mine == yours:
                continue
            for at in range(0, len(yours), BLOCK):
                if mine[at : at + BLOCK] != yours[at : at + BLOCK]:
                    yield start + at
