"""lzop's file format, the only form of LZO that the kernel unpacks; through the program lzop, which defines it.

Its header (src/lzop.h, version 1.04): magic, version, library version, version needed (2 bytes each), method, level
(1 each), flags, mode, time, time's upper half (4 each), length of the name (1), name, checksum (4). Then blocks: their
two lengths, up to four checksums, data; a length of zero ends. Numbers are big-endian.
"""

import zlib

from bootlab.errors import InputError
from bootlab.process import ProgramFailed, run

MAGIC = bytes.fromhex("894c5a4f000d0a1a0a")

_LEVEL = "-9"
_DEADLINE_S = 600.0
_FLAGS_AT, _TIME_AT, _NAME_AT = 17, 25, 33
_CONTENT_SUMS = (0x001, 0x100)
_PACKED_SUMS = (0x002, 0x200)
_HEADER_CRC, _EXTRA_FIELD, _FILTER = 0x1000, 0x40, 0x800


def pack(data: bytes) -> bytes:
    """Return `data` as lzop's file, the same bytes every time. Raises MissingTool, ProgramFailed."""
    made = run(["lzop", _LEVEL, "--stdout"], input=data, deadline_s=_DEADLINE_S, package="lzop").stdout
    # lzop writes the time into the header; without it the header's checksum is another.
    end = _NAME_AT + 1 + made[_NAME_AT]
    header = made[:_TIME_AT] + bytes(8) + made[_NAME_AT:end]
    checksum = zlib.crc32 if _flags(made) & _HEADER_CRC else zlib.adler32
    return header + checksum(header[len(MAGIC) :]).to_bytes(4, "big") + made[end + 4 :]


def unpack(data: bytes) -> tuple[bytes, int]:
    """Return the content of the file that `data` starts with, and the file's length in bytes.

    Raises InputError when it is damaged, cut short or of a variant that the kernel does not take; MissingTool.
    """
    length = _length(data)
    try:
        return run(["lzop", "-dc"], input=data[:length], deadline_s=_DEADLINE_S, package="lzop").stdout, length
    except ProgramFailed as error:
        raise InputError(f"damaged compressed data: {error.stderr or error.message}") from error


def _length(data: bytes) -> int:
    flags = _flags(data)
    if flags & (_EXTRA_FIELD | _FILTER):
        raise InputError("damaged compressed data: an lzop file with fields that the kernel does not take")
    at = _NAME_AT + 1 + _byte(data, _NAME_AT) + 4
    content_sums, packed_sums = (sum(4 for bit in bits if flags & bit) for bits in (_CONTENT_SUMS, _PACKED_SUMS))
    while (size := _number(data, at)) != 0:
        packed = _number(data, at + 4)
        # A block that would grow is stored as it is, and then has no second set of checksums.
        at += 8 + content_sums + (packed_sums if packed < size else 0) + packed
    return at + 4


def _flags(data: bytes) -> int:
    return _number(data, _FLAGS_AT)


def _byte(data: bytes, at: int) -> int:
    if at >= len(data):
        raise InputError("cut short: the compressed data ends in the middle")
    return data[at]


def _number(data: bytes, at: int) -> int:
    if at + 4 > len(data):
        raise InputError("cut short: the compressed data ends in the middle")
    return int.from_bytes(data[at : at + 4], "big")
