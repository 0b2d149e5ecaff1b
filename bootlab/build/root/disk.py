"""Fresh disk images, of ext4 or blank, made without root, the same bytes on every run."""

from pathlib import Path

from bootlab.build.cache import Cache
from bootlab.build.formats import ext4

_JOURNAL_MIB = 8
"""Smaller disks get no journal: it would be half of them."""
_SMALL_MIB = 32
_FORMAT = 1


def make_empty_ext4(size_mib: int, cache: Cache) -> Path:
    """Return an image of `size_mib` MiB that holds an empty ext4 file system. Shared: boot it with snapshot=on.

    Raises MissingTool (e2fsprogs), StoreError.
    """

    def build(path: Path) -> None:
        small = size_mib < _SMALL_MIB
        journal_mib = 0 if size_mib < _JOURNAL_MIB else 1 if small else 8
        inodes = min(64 * size_mib, 1 << 20)
        ext4.make(path, size_mib, block=1024 if small else 4096, inodes=inodes, journal_mib=journal_mib)

    return cache.make("disk", f"ext4 {_FORMAT} {size_mib}", build)


def make_blank(size_mib: int, cache: Cache) -> Path:
    """Return an image of `size_mib` MiB of zeros. Shared: boot it with snapshot=on. Raises StoreError."""

    def build(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(size_mib << 20)

    return cache.make("disk", f"blank {size_mib}", build)
