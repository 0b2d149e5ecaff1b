"""Compressed files read block by block: gzip, xz, zstd, bzip2. What is cut off is an error, not an early end."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, Final

import zstandard

_BLOCK: Final = 1 << 20
_ZSTD_PIECE: Final = 4096
"""Its decompressor hands out at once all that it makes of a piece: 32 times a thousand bytes of each, at worst."""
_MAGICS: Final = ((b"\x1f\x8b", "gzip"), (b"\xfd7zXZ\0", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"BZh", "bzip2"))
HEAD_BYTES: Final = 8
"""How many first bytes `compression_of` needs."""
DAMAGED: Final = (OSError, EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError)
"""What reading a damaged stream raises. Of an OSError only one without an errno is meant: others are of the file."""


def compression_of(head: bytes) -> str | None:
    """Return the name of the compression that a file begins with; None for none that is known."""
    return next((name for magic, name in _MAGICS if head.startswith(magic)), None)


def read_blocks(packed: IO[bytes], how: str | None) -> Iterator[bytes]:
    """Yield what a stream compressed `how` holds; None: as it is. Raises one of `DAMAGED`."""
    if how == "zstd":
        yield from _zstd_blocks(packed)
        return
    opened: IO[bytes] = _OPENED[how](packed) if how is not None else packed
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
    while data := packed.read(_ZSTD_PIECE):
        while data:
            frame = frame or zstandard.ZstdDecompressor().decompressobj()
            yield frame.decompress(data)
            data = frame.unused_data if frame.eof else b""
            if frame.eof:
                frame = None
    if frame is not None:
        raise EOFError("it ends in the middle of a frame")
