"""Where the files of an ext4 image lie in it, as debugfs tells it."""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.process import run

_SECTOR: Final = 512
_SUPERBLOCK: Final = 1024
_MAGIC: Final = (56, 0xEF53)
_BLOCK_SIZE: Final = 24
_DEADLINE_S: Final = 120.0
_FILE = re.compile(r"//(.*) has \d+ block\(s\), i_size is \d+$")
_EXTENT = re.compile(r" *\d+ +\d+ +(\d+) +(?:\d+ +)?(\d+)(?: |$)")


@dataclass(frozen=True, slots=True)
class Place:
    """One piece of a file or folder, in sectors of 512 bytes from the image's beginning."""

    path: str
    sector: int
    sectors: int


def is_ext4(image: Path) -> bool:
    """Return whether an image has an ext2, ext3 or ext4 superblock. Raises OSError."""
    head = _superblock(image)
    return len(head) > _MAGIC[0] + 1 and struct.unpack_from("<H", head, _MAGIC[0])[0] == _MAGIC[1]


def read_places(image: Path) -> Iterator[Place]:
    """Yield each piece of each file of an ext4 image, in no order; what only the file system itself uses is in none.

    Raises OSError, MissingTool (e2fsprogs), ProgramFailed.
    """
    factor = (1024 << int(struct.unpack_from("<I", _superblock(image), _BLOCK_SIZE)[0])) // _SECTOR
    told = run(["debugfs", "-R", "filefrag -vr /", image], deadline_s=_DEADLINE_S, package="e2fsprogs")
    path = ""
    for line in told.stdout.decode(errors="replace").splitlines():
        if (file := _FILE.match(line)) is not None:
            path = f"/{file[1]}"
        elif (extent := _EXTENT.match(line)) is not None and path:
            yield Place(path, int(extent[1]) * factor, int(extent[2]) * factor)


def _superblock(image: Path) -> bytes:
    with image.open("rb") as file:
        file.seek(_SUPERBLOCK)
        return file.read(_SUPERBLOCK)
