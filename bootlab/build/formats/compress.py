"""Initramfs compression in the exact forms the kernel's own decompressors accept; the same bytes on every run.

Levels are the defaults of Debian's mkinitramfs, so that what is measured is what is shipped.
"""

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Any

import lz4.block
import zstandard

from bootlab.build.formats import lzop
from bootlab.errors import InputError
from bootlab.system import Compression

_GZIP_LEVEL = 6
_LZ4_LEVEL = 9
_ZSTD_LEVEL = 9
_XZ_LEVEL = 6
_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_LZ4_LEGACY_MAGIC = bytes.fromhex("02214c18")
_LZ4_BLOCK = 8 << 20
_ZSTD_MAGIC = bytes.fromhex("28b52ffd")
_DAMAGED = (zlib.error, lzma.LZMAError, zstandard.ZstdError, lz4.block.LZ4BlockError, EOFError, OSError)


def compress(data: bytes, how: Compression) -> bytes:
    """Return `data` compressed `how`; unchanged for `none`. Raises MissingTool when LZO has no lzop."""
    return _COMPRESSORS[how](data)


def compression_of(data: bytes) -> Compression | None:
    """Return how the stream that `data` starts with is compressed; None where it is in no way that is made here."""
    return next((kind for magic, kind in _KINDS if data.startswith(magic)), None)


def decompress(data: bytes) -> tuple[bytes, int] | None:
    """Return the content of the compressed stream that `data` starts with, and the stream's length in bytes.

    None when `data` starts with no known compression. Raises InputError when the stream is damaged or cut short,
    MissingTool when LZO has no lzop.
    """
    for magic, unpack in _DECOMPRESSORS:
        if data.startswith(magic):
            try:
                return unpack(data)
            except _DAMAGED as error:
                raise InputError(f"damaged compressed data: {error}") from error
    return None


def _gzip(data: bytes) -> bytes:
    # zlib's own gzip header: no name, time zero, whatever the Python version.
    packer = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP_WINDOW)
    return packer.compress(data) + packer.flush()


def _lz4(data: bytes) -> bytes:
    # The legacy frame: the kernel's unlz4 knows no other.
    parts = [_LZ4_LEGACY_MAGIC]
    for start in range(0, len(data), _LZ4_BLOCK):
        block = lz4.block.compress(
            data[start : start + _LZ4_BLOCK], mode="high_compression", compression=_LZ4_LEVEL, store_size=False
        )
        parts += [len(block).to_bytes(4, "little"), block]
    return b"".join(parts)


def _zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=_ZSTD_LEVEL, write_checksum=True).compress(data)


def _xz(data: bytes) -> bytes:
    # The kernel's xz checks CRC32 at most.
    return lzma.compress(data, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, preset=_XZ_LEVEL)


def _stream(unpacker: Any, data: bytes) -> tuple[bytes, int]:
    content = unpacker.decompress(data)
    if not unpacker.eof:
        raise InputError("cut short: the compressed data ends in the middle")
    return content, len(data) - len(unpacker.unused_data)


def _unlz4(data: bytes) -> tuple[bytes, int]:
    parts, offset = [], 4
    while offset + 4 <= len(data):
        size = int.from_bytes(data[offset : offset + 4], "little")
        if size == 0 or data.startswith(_LZ4_LEGACY_MAGIC, offset):
            break
        block = data[offset + 4 : offset + 4 + size]
        if len(block) < size:
            raise InputError("cut short: the compressed data ends in the middle")
        parts.append(lz4.block.decompress(block, uncompressed_size=_LZ4_BLOCK))
        offset += 4 + size
    return b"".join(parts), offset


_KINDS: tuple[tuple[bytes, Compression], ...] = (
    (b"\x1f\x8b", Compression.GZIP),
    (b"\xfd7zXZ\0", Compression.XZ),
    (_LZ4_LEGACY_MAGIC, Compression.LZ4),
    (lzop.MAGIC, Compression.LZO),
    (_ZSTD_MAGIC, Compression.ZSTD),
)
_COMPRESSORS: dict[Compression, Callable[[bytes], bytes]] = {
    Compression.NONE: lambda data: data,
    Compression.GZIP: _gzip,
    Compression.LZ4: _lz4,
    Compression.ZSTD: _zstd,
    Compression.XZ: _xz,
    Compression.LZO: lzop.pack,
}
_DECOMPRESSORS: tuple[tuple[bytes, Callable[[bytes], tuple[bytes, int]]], ...] = (
    (b"\x1f\x8b", lambda data: _stream(zlib.decompressobj(_GZIP_WINDOW), data)),
    (b"\xfd7zXZ\0", lambda data: _stream(lzma.LZMADecompressor(lzma.FORMAT_XZ), data)),
    (b"BZh", lambda data: _stream(bz2.BZ2Decompressor(), data)),
    (b"\x5d\0\0", lambda data: _stream(lzma.LZMADecompressor(lzma.FORMAT_ALONE), data)),
    (_LZ4_LEGACY_MAGIC, _unlz4),
    (lzop.MAGIC, lzop.unpack),
    (_ZSTD_MAGIC, lambda data: _stream(zstandard.ZstdDecompressor(max_window_size=1 << 30).decompressobj(), data)),
)
