"""Compressed files as streams, in bounded memory: gzip, xz, bz2 and zstd, streams that follow each other included.

Text in UTF-16, which `>` of PowerShell writes, becomes UTF-8.
"""

import bz2
import codecs
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Final

import zstandard

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

DAMAGE: Final = (EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError, gzip.BadGzipFile)
"""What reading a damaged file raises, besides an OSError without errno (bz2)."""
_CHUNK: Final = 1 << 20
_MEMORY: Final = 128 * 1024 * 1024
# zstd's decompressor takes no limit for what it returns, and four bytes can mean 128 KiB.
_ZSTD_CHUNK: Final = 1024

Reader = IO[bytes] | io.BufferedIOBase | io.RawIOBase


class Replayed(io.RawIOBase):
    """A stream with some bytes put back before it."""

    def __init__(self, stream: Reader, first: bytes = b"") -> None:
        self._stream, self.first = stream, first

    def readable(self) -> bool:
        """Return that it can be read, as io asks."""
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Fill `buffer` with what was read before, then with what the stream has; 0 at its end."""
        view = memoryview(buffer).cast("B")
        data = self.first[: len(view)] or self._stream.read(len(view)) or b""
        self.first = self.first[len(data) :] if self.first else b""
        view[: len(data)] = data
        return len(data)


class _Unpacked(io.RawIOBase):
    """What a decompressor like those of bz2 and lzma makes of a stream."""

    def __init__(
        self, stream: io.RawIOBase, make: "Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor | _Zstd]"
    ) -> None:
        self._stream, self._make = stream, make
        self._decompressor = make()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        view = memoryview(buffer).cast("B")
        while True:
            if self._decompressor.eof:
                rest = self._decompressor.unused_data or self._stream.read(_CHUNK) or b""
                if not rest:
                    return 0
                self._decompressor = self._make()
                data = self._decompressor.decompress(rest, len(view))
            else:
                more = (self._stream.read(_CHUNK) or b"") if self._decompressor.needs_input else b""
                if not more and self._decompressor.needs_input:
                    raise EOFError("it ends in the middle")
                data = self._decompressor.decompress(more, len(view))
            if data:
                view[: len(data)] = data
                return len(data)


class _FromUtf16(io.RawIOBase):
    """Text in UTF-16 as UTF-8; what is neither becomes U+FFFD."""

    def __init__(self, stream: Reader) -> None:
        self._stream, self._ready, self._ended = stream, b"", False
        self._decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        view = memoryview(buffer).cast("B")
        while not self._ready and not self._ended:
            data = self._stream.read(len(view)) or b""
            self._ended = not data
            # A surrogate alone is no character, and has no UTF-8.
            self._ready = self._decoder.decode(data, self._ended).encode(errors="replace")
        data, self._ready = self._ready[: len(view)], self._ready[len(view) :]
        view[: len(data)] = data
        return len(data)


class _Zstd:
    """zstd's decompressor, used like those of bz2 and lzma."""

    def __init__(self) -> None:
        self._inner = zstandard.ZstdDecompressor(max_window_size=_MEMORY).decompressobj()
        self._packed, self._at = b"", 0
        self._ready = b""

    @property
    def eof(self) -> bool:
        return self._inner.eof and not self._ready

    @property
    def needs_input(self) -> bool:
        return self._at >= len(self._packed) and not self._ready

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data + self._packed[self._at :]

    def decompress(self, data: bytes, most: int) -> bytes:
        """Take more packed bytes, if any, and return at most `most` unpacked ones."""
        if data:
            self._packed, self._at = self._packed[self._at :] + data, 0
        while self._at < len(self._packed) and not self._ready and not self._inner.eof:
            chunk = self._packed[self._at : self._at + _ZSTD_CHUNK]
            self._at += len(chunk)
            self._ready = self._inner.decompress(chunk)
        taken, self._ready = self._ready[:most], self._ready[most:]
        return taken


def unpacked(raw: Replayed) -> Reader:
    """Return the stream of what `raw` holds: unpacked, if its first bytes say that it is packed."""
    raw.first = read_up_to(raw, 6)
    if raw.first.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=io.BufferedReader(raw, _CHUNK), mode="rb")
    if raw.first.startswith(b"\xfd7zXZ\0"):
        return _Unpacked(raw, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY))
    if raw.first.startswith(b"BZh"):
        return _Unpacked(raw, bz2.BZ2Decompressor)
    if raw.first.startswith(b"\x28\xb5\x2f\xfd"):
        return _Unpacked(raw, _Zstd)
    return raw


def as_utf8(data: Reader) -> Reader:
    """Return a stream with what is UTF-16 in UTF-8: text behind a byte order mark; anything else as it is."""
    first = read_up_to(data, 4)
    whole = Replayed(data, first)
    mark, letter = first[:2], first[2:]
    if (mark == codecs.BOM_UTF16_LE and letter[1:] == b"\0" != letter[:1]) or (
        mark == codecs.BOM_UTF16_BE and letter[:1] == b"\0" != letter[1:]
    ):
        return _FromUtf16(whole)
    return whole


def read_up_to(stream: Reader, most: int) -> bytes:
    """Return the next `most` bytes of a stream, or what there is."""
    parts, left = [], most
    while left and (data := stream.read(min(left, _CHUNK))):
        parts.append(data)
        left -= len(data)
    return b"".join(parts)
