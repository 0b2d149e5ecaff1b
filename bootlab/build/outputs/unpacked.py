"""Images as QEMU takes them: unpacked where a build compressed them, and a card as large as a card may be.

What is made lies in the cache under the hash of what it was made of; the build's own files are never written to.
"""

import bz2
import gzip
import lzma
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Final

import zstandard

from bootlab.build.cache import file_sha256
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError

_BLOCK: Final = 1 << 20
_HOLE: Final = 1 << 16
_MAGICS: Final = ((b"\x1f\x8b", "gzip"), (b"\xfd7zXZ\0", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"BZh", "bzip2"))
_DAMAGED: Final = (OSError, EOFError, lzma.LZMAError, zstandard.ZstdError)
_LEAST_CARD: Final = 64 << 20


def unpack_image(shop: Workshop, path: Path) -> Path:
    """Return an image that is not compressed: itself, or its content in the cache.

    Raises InputError for one that cannot be read or is damaged, StoreError for a full cache.
    """
    try:
        with path.open("rb") as file:
            head = file.read(8)
        how = next((name for magic, name in _MAGICS if head.startswith(magic)), None)
        if how is None:
            return path
        key = f"{how} {file_sha256(path)}"
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}") from error

    def unpack(out: Path) -> None:
        shop.tell(f"unpacking {path.name}")
        with path.open("rb") as packed, out.open("wb") as file:
            _copy_sparse(path, _blocks(packed, how), file)

    return shop.cache.make("unpacked-images", key, unpack)


def make_card(shop: Workshop, path: Path) -> Path:
    """Return a card's image whose size is a power of two, as QEMU asks of one: itself, or a longer copy.

    Raises InputError, StoreError as `unpack_image`.
    """
    path = unpack_image(shop, path)
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


def _blocks(packed: IO[bytes], how: str) -> Iterator[bytes]:
    if how == "zstd":
        yield from _zstd_blocks(packed)
        return
    opened: IO[bytes] = _OPENED[how](packed)
    while block := opened.read(_BLOCK):
        yield block


_OPENED: Final[dict[str, Callable[[Any], Any]]] = {
    "gzip": lambda packed: gzip.GzipFile(fileobj=packed),
    "xz": lzma.LZMAFile,
    "bzip2": bz2.BZ2File,
}


def _zstd_blocks(packed: IO[bytes]) -> Iterator[bytes]:
    # Its own reader takes the end of a file that was cut off for the end of what it unpacks.
    frame = None
    while data := packed.read(_BLOCK):
        while data:
            frame = frame or zstandard.ZstdDecompressor().decompressobj()
            yield frame.decompress(data)
            data = frame.unused_data if frame.eof else b""
            if frame.eof:
                frame = None
    if frame is not None:
        raise EOFError("it ends in the middle of a frame")


def _copy_sparse(path: Path, source: Iterator[bytes], out: IO[bytes]) -> None:
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
    except _DAMAGED as error:
        if getattr(error, "errno", None) is not None:
            raise
        raise InputError(f"{path}: damaged or cut off: {error}", hint="build or copy it again") from error
    out.truncate(size)
