"""Reader of the pictures that the plugin kept of a boot's screen (plugin/trace_format.h):

frame login-window 5216771000 1024 768
<1024 * 768 pixels of four bytes>
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from bootlab.errors import InputError

PICTURES: Final = "pictures.bin"
"""Where the plugin writes them, in a boot's directory."""

_HEAD: Final = re.compile(rb"frame ([!-~]{1,64}) (\d{1,19}) (\d{1,5}) (\d{1,5})\n")
_LONGEST: Final = 128
_FILM: Final = "-"


@dataclass(frozen=True, slots=True)
class Picture:
    """What was on the screen at `t_ns`. `mark`: whose picture it is; None: one of the film.

    `pixels`: rows of four bytes each, blue, green, red and 0.
    """

    mark: str | None
    t_ns: int
    width: int
    height: int
    pixels: bytes


def read_pictures(path: Path) -> Iterator[Picture]:
    """Yield the pictures in a file, one at a time; half a last one is a QEMU that was killed.

    Raises InputError for a file that is something else.
    """
    with path.open("rb") as file:
        while head := file.readline(_LONGEST):
            found = _HEAD.fullmatch(head)
            if found is None:
                if not head.endswith(b"\n") and len(head) < _LONGEST:
                    return
                raise InputError(f"{path}: not pictures of the plugin: {head[:40]!r}")
            picture = _read(file, found[1].decode("ascii"), *(int(found[group]) for group in (2, 3, 4)))
            if picture is None:
                return
            yield picture


def _read(file: BinaryIO, name: str, t_ns: int, width: int, height: int) -> Picture | None:
    pixels = file.read(width * height * 4)
    if len(pixels) < width * height * 4:
        return None
    return Picture(None if name == _FILM else name, t_ns, width, height, pixels)
