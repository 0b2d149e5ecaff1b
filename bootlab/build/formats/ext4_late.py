"""A part of an ext4 image for files that are read late: what changes in there changes no other block of the image.

Whatever is written to a file system shows in blocks that the kernel reads as it mounts it: descriptors of groups count
free blocks and inodes, bitmaps have a bit for each, a block of the inode table holds sixteen inodes and is read with 31
others. So the part has a fixed number of blocks, of inodes and of folders, all of which are always in use: what its
files leave over belongs to files in `/lost+found/late`. Its inodes begin behind all that the kernel reads with others.
The file system is whole for every checker.

Runs of debugfs: what is not late; then the late files and what fills up inodes; then what fills up blocks.
"""

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.build.formats.cpio import Entry
from bootlab.errors import InputError

BLOCK: Final = 4096
_INODES_OF_BLOCK: Final = 16
_READ_AT_ONCE: Final = 32
"""Blocks that the kernel reads of an inode table at once (ext4's inode_readahead_blks)."""
INODES: Final = _INODES_OF_BLOCK * _READ_AT_ONCE
"""Of the part."""
_FOLDERS: Final = 32
_PLACE: Final = "/lost+found/late"
_ROOM: Final = f"{_PLACE}/room"
_SUPERBLOCK: Final = 1024
_DESCRIPTOR: Final = 64


@dataclass(frozen=True, slots=True)
class LatePart:
    """Which paths are late, each with all below it, and how many blocks they may take."""

    paths: tuple[str, ...]
    blocks: int

    def split(self, entries: Sequence[Entry]) -> tuple[list[Entry], list[Entry]]:
        """Return what is not late, and what is. A file that has a name elsewhere as well is not.

        The paths themselves come first: their folders, which are not late, name their inodes.
        """
        late = [entry for entry in entries if self._has(entry.path)]
        elsewhere = {entry.linked for entry in entries if entry.linked and not self._has(entry.path)}
        late = [entry for entry in late if entry.linked not in elsewhere]
        mine = {entry.path for entry in late}
        late.sort(key=lambda entry: f"/{entry.path}" not in self.paths)
        return [entry for entry in entries if entry.path not in mine], late

    def _has(self, path: str) -> bool:
        return any(f"/{path}" == one or f"/{path}".startswith(f"{one}/") for one in self.paths)


def add(
    part: LatePart,
    image: Path,
    late: Sequence[Entry],
    commands: Iterable[str],
    debugfs: Callable[[Iterable[str]], None],
) -> None:
    """Write the late files by these `commands`, and fill the part up. `debugfs` runs commands on the image.

    Raises InputError where there are more of them than the part has room for.
    """
    free = _counts(image)
    first = _next_part(free)
    skipped = range(free.next_inode, first)
    folders = sum(entry.mode & 0o170000 == 0o040000 for entry in late)
    inodes = len({entry.linked or entry.path for entry in late})
    # Of the part's own: its folder, the file with what is left of its blocks.
    fillers, dummies = INODES - inodes - 2 - (_FOLDERS - folders), _FOLDERS - folders
    if fillers < 0 or dummies < 0:
        raise InputError(
            f"rootfs.late: {inodes} files and folders, {folders} folders: the late part has {INODES - _FOLDERS} and "
            f"{_FOLDERS}",
            hint="name fewer paths: those that are changed",
        )
    empty = image.with_name("empty")
    empty.touch()
    lines = [f"seti <{number}>" for number in skipped]
    lines += [f"mkdir {_PLACE}", f"cd {_PLACE}", f"write {empty} room", "cd /"]
    lines += [*commands, f"cd {_PLACE}"]
    lines += [f"mkdir d{number}" for number in range(dummies)]
    lines += [f"write {empty} f{number}" for number in range(fillers)]
    debugfs([*lines, *(f"freei <{number}>" for number in skipped)])
    left = part.blocks - (free.blocks - _counts(image).blocks)
    if left < 0:
        raise InputError(
            f"rootfs.late_mib: {part.blocks * BLOCK >> 20} MiB are too few: the late files take "
            f"{-(-(part.blocks - left) * BLOCK >> 20)} MiB",
            hint="give some more than that, so that they may grow",
        )
    if left:
        debugfs([f"fallocate {_ROOM} 0 {left - 1}", f"sif {_ROOM} size {left * BLOCK}"])
    # The superblock counts what was ever written, and so would tell how much of it was late.
    debugfs(["ssv kbytes_written 0"])


@dataclass(frozen=True, slots=True)
class _Counts:
    blocks: int
    """Free ones."""
    next_inode: int
    inodes_per_group: int
    tables: tuple[int, ...]
    """First block of each group's inode table."""


def _counts(image: Path) -> _Counts:
    with image.open("rb") as file:
        file.seek(_SUPERBLOCK)
        superblock = file.read(1024)
        inodes, _, _, free_low, free_inodes = struct.unpack_from("<5I", superblock)
        (per_group,) = struct.unpack_from("<I", superblock, 0x28)
        (free_high,) = struct.unpack_from("<I", superblock, 0x158)
        # The descriptors follow the superblock's block, 64 bytes each (the feature 64bit).
        file.seek(BLOCK)
        groups = [file.read(_DESCRIPTOR) for _ in range(inodes // per_group)]
    tables = [low | high << 32 for low, high in (struct.unpack("<8xI28xI20x", group) for group in groups)]
    # debugfs takes one after the other.
    return _Counts(free_high << 32 | free_low, inodes - free_inodes + 1, per_group, tuple(tables))


def _next_part(free: _Counts) -> int:
    """Return the first inode that the kernel does not read beside one that is in use, where a group has room for all.

    From the 32nd block of the disk at or before the one it wants, or from the table's first, it reads 32 blocks and one
    more, and no further than one block behind the table (`__ext4_get_inode_loc`).
    """
    group, index = divmod(free.next_inode - 2, free.inodes_per_group)
    table = free.tables[group]
    block = table + index // _INODES_OF_BLOCK
    index = (max(table, block - block % _READ_AT_ONCE) + _READ_AT_ONCE + 1 - table) * _INODES_OF_BLOCK
    while index + INODES > free.inodes_per_group:
        group, index = group + 1, _INODES_OF_BLOCK
        if group == len(free.tables):
            raise InputError(
                "rootfs.late: no group of this file system has room for a part of its own",
                hint="another rootfs.size_mib: a file system of up to 128 MiB is one group",
            )
    return group * free.inodes_per_group + index + 1
