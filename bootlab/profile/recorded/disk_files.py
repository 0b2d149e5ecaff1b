"""Which file lies where on a modelled disk, as it is kept beside a profile of its boot:

bootlab-disk-files 1
rootfs 182176 3768 /usr/lib/x86_64-linux-gnu/libc.so.6
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from bootlab.errors import InputError
from bootlab.profile.recorded.compressed import find_kept, read_kept

DISK_FILES: Final = "disk-files.txt"
"""In a profiled boot's directory, where a modelled disk holds an ext4 file system."""
_FIRST: Final = "bootlab-disk-files 1"


class FilePiece(NamedTuple):
    """One piece of a file, in sectors of 512 bytes from the beginning of its disk."""

    sector: int
    sectors: int
    path: str


def write_disk_files(pieces: Mapping[str, Iterable[FilePiece]]) -> str:
    """Return the text of the file, of the pieces of each drive. A name with a line break has `?` in its place."""
    lines = [_FIRST]
    for drive, of in pieces.items():
        for sector, sectors, path in of:
            printable = path.replace("\n", "?").replace("\r", "?")
            lines.append(f"{drive} {sector} {sectors} {printable}")
    return "".join(f"{line}\n" for line in lines)


def read_disk_files(path: Path) -> dict[str, list[FilePiece]]:
    """Return the pieces of each drive, in the order of the disk; none where the boot has no such file.

    Raises InputError for a file that is damaged, OSError for one that cannot be read.
    """
    if not find_kept(path).exists():
        return {}
    try:
        first, *lines = read_kept(path).decode(errors="replace").splitlines() or [""]
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error
    if first != _FIRST:
        raise InputError(f"{path}:1: not a list of places that this bootlab reads")
    drives: dict[str, list[FilePiece]] = {}
    for number, line in enumerate(lines, start=2):
        words = line.split(" ", 3)
        if len(words) != 4 or not (words[1].isdecimal() and words[2].isdecimal()):
            raise InputError(f"{path}:{number}: not a piece of a file: {line[:80]!r}")
        drives.setdefault(words[0], []).append(FilePiece(int(words[1]), int(words[2]), words[3]))
    return {drive: sorted(pieces) for drive, pieces in drives.items()}
