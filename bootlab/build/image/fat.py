"""FAT file systems, as EFI system partitions are, made and written by mtools: no mount, the same bytes each time.

A place is what mtools takes behind -i: a file, or `FILE@@OFFSET` for a partition of a disk.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from bootlab.build.formats import ext4
from bootlab.build.formats.partitions import SECTOR
from bootlab.build.image.room import no_room
from bootlab.process import ProgramFailed, run

_ENVIRONMENT = {"MTOOLS_SKIP_CHECK": "1", "SOURCE_DATE_EPOCH": str(ext4.DATE), "TZ": "UTC"}
_DEADLINE_S = 120.0
# What mdir says at its end: "1 file   41 000 000 bytes", "280 576 bytes free".
_FREE = re.compile(r"(\d[\d ]*) bytes free")
_LISTED = re.compile(r"\bfiles? +(\d[\d ]*) bytes$", re.MULTILINE)


def make_fat(image: Path, size: int, serial: str, files: Mapping[str, bytes]) -> None:
    """Make a file system of `size` bytes with `files` at `image`; beside it is scratch space.

    Raises InputError where they have no room, MissingTool (mtools).
    """
    source = image.with_name(f"{image.name}-file")
    image.touch()
    sectors = str(size // SECTOR)
    _mtools("mformat", "-i", image, "-C", "-F", "-T", sectors, "-h", "255", "-s", "63", "-N", serial, "::")
    folders: dict[str, None] = {}
    for name in files:
        for depth in range(1, name.count("/") + 1):
            folders.setdefault("/".join(name.split("/")[:depth]))
    _mtools("mmd", "-i", image, *(f"::{folder}" for folder in folders))
    for name, content in files.items():
        source.write_bytes(content)
        put_into_fat(str(image), name, source, f"an EFI system partition of {size >> 20:,} MiB")


def put_into_fat(place: str, path: str, content: Path, where: str) -> None:
    """Write the file `content` to `path`, in place of the one that may be there. `where`: words for the partition.

    Raises InputError where it has no room, which leaves it damaged; MissingTool (mtools).
    """
    free = _free_for(place, path)
    try:
        _mtools("mcopy", "-o", "-i", place, content, f"::{path}")
    except ProgramFailed as error:
        if "full" in error.stderr.lower():
            raise no_room(where, path, content.stat().st_size, free) from error
        raise


def _free_for(place: str, path: str) -> int | None:
    """Return how many bytes a file at `path` may have; those of the file that it replaces are free then, too."""
    try:
        told = _mtools("mdir", "-i", place, f"::{path}")
    except ProgramFailed:
        told = _mtools("mdir", "-i", place, "::")
        return _number(_FREE.search(told))
    free, old = _number(_FREE.search(told)), _number(_LISTED.search(told))
    return None if free is None else free + (old or 0)


def _number(found: re.Match[str] | None) -> int | None:
    return None if found is None else int(found[1].replace(" ", ""))


def _mtools(*words: str | Path) -> str:
    return run(list(words), env=_ENVIRONMENT, package="mtools", deadline_s=_DEADLINE_S).text
