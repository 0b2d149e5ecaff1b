"""Images as QEMU takes them: unpacked where a build compressed them, and a card as large as a card may be.

What is made lies in the cache under the hash of what it was made of; the build's own files are never written to.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from bootlab.build.cache import file_sha256
from bootlab.build.formats.streams import DAMAGED, HEAD_BYTES, compression_of, read_blocks
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError

_ENDINGS: Final = {
    ".gz": "gzip",
    ".xz": "xz",
    ".zst": "zstd",
    ".bz2": "bzip2",
    ".lz4": "lz4",
    ".lzma": "lzma",
    ".lzo": "lzo",
}
_UNPACKED: Final = ("gzip", "xz", "zstd", "bzip2")
_HOLE: Final = 1 << 16
_LEAST_CARD: Final = 64 << 20


def unpack_image(shop: Workshop, path: Path, most: int | None = None) -> Path:
    """Return an image that is not compressed: itself, or its content in the cache.

    Raises InputError for one that cannot be read, is damaged, or has more than `most` bytes in it, StoreError for a
    full cache.
    """
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
        how = compression_of(head)
        if how is None:
            return path
        key = f"{how} {file_sha256(path)}"
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}") from error

    def unpack(out: Path) -> None:
        shop.tell(f"unpacking {path.name}")
        with path.open("rb") as packed, out.open("wb") as file:
            _copy_sparse(path, read_blocks(packed, how), file, most)

    return shop.cache.make("unpacked-images", key, unpack)


def unpack_disk(shop: Workshop, path: Path) -> Path:
    """Return a disk's image that is not compressed, as `unpack_image`.

    Raises InputError, StoreError as that, and InputError for a file that its name says is compressed, and is not.
    """
    raw = unpack_image(shop, path)
    said = _ENDINGS.get(path.suffix)
    if raw != path or said is None:
        return raw
    # A guest would be given its bytes as they are, and find no file system there.
    if said in _UNPACKED:
        raise InputError(f"{path}: not a {said} file, as its name says: damaged", hint="build or copy it again")
    raise InputError(
        f"{path}: {said} by its name, and bootlab unpacks {', '.join(_UNPACKED)}",
        hint=f"unpack it, and name {path.stem} in a system file: docs/systems.md",
    )


def make_card(shop: Workshop, path: Path) -> Path:
    """Return a card's image whose size is a power of two, as QEMU asks of one: itself, or a longer copy.

    Raises InputError, StoreError as `unpack_disk`.
    """
    path = unpack_disk(shop, path)
    try:
        size = path.stat().st_size
        wanted = max(_LEAST_CARD, 1 << max(size - 1, 0).bit_length())
        if size == wanted:
            return path
        key = f"{wanted} {file_sha256(path)}"
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}") from error

    def lengthen(out: Path) -> None:
        shutil.copyfile(path, out)
        os.truncate(out, wanted)

    return shop.cache.make("cards-of-builds", key, lengthen)


def _copy_sparse(path: Path, source: Iterator[bytes], out: IO[bytes], most: int | None) -> None:
    # Most of an image is zeros, which a hole says without room on the disk.
    size = 0
    try:
        for block in source:
            for at in range(0, len(block), _HOLE):
                piece = block[at : at + _HOLE]
                if piece.count(0) == len(piece):
                    out.seek(len(piece), os.SEEK_CUR)
                else:
                    out.write(piece)
            size += len(block)
            if most is not None and size > most:
                raise InputError(f"{path}: unpacks to more than {most >> 30} GiB, and is read no further")
    except DAMAGED as error:
        if getattr(error, "errno", None) is not None:
            raise
        raise InputError(f"{path}: damaged or cut off: {error}", hint="build or copy it again") from error
    out.truncate(size)
