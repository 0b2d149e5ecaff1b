"""Partition tables: GPT and MBR, read out of an image, and a GPT written the same every time.

Places are bytes from the start of the image.
"""

import struct
import uuid
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from bootlab.errors import InputError

SECTOR = 512
TABLE_BYTES = 34 * SECTOR
"""What a GPT of 128 entries, as it is written here, takes of an image's start."""
ESP = uuid.UUID("c12a7328-f81f-11d2-ba4b-00a0c93ec93b")
XBOOTLDR = uuid.UUID("bc13c2ff-59e6-4262-a352-b275fd6f7172")
"""A boot partition beside the ESP (Boot Loader Specification), which systemd-boot reads, too."""
BIOS_BOOT = uuid.UUID("21686148-6449-6e6f-744e-656564454649")
LINUX_ROOT_X86_64 = uuid.UUID("4f68bce3-e8cd-4db1-96e7-fbcaf984b709")

_ENTRIES, _ENTRY = 128, 128
_DISK_ID = uuid.UUID("b0071ab0-0000-4000-8000-0000000000ff")
_MBR_TYPES = {0xEF: ESP}
_EXTENDED = (0x05, 0x0F, 0x85)
_PROTECTIVE = 0xEE
_GPT_MAGIC, _MBR_MAGIC = b"EFI PART", b"\x55\xaa"
_LARGEST_SECTOR = 4096
_HEADER_BYTES = 92
_MOST_ENTRIES, _LARGEST_ENTRY = 1024, 4096
_FIRST_LOGICAL, _MOST_LOGICAL = 5, 128
_INACTIVE, _ACTIVE = 0x00, 0x80


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition by its number, as a kernel counts; `type` is that of a GPT, None for an MBR's that has no such.

    `own`: what a GPT knows this very partition by.
    """

    number: int
    start: int
    size: int
    type: uuid.UUID | None = None
    own: uuid.UUID | None = None

    @property
    def end(self) -> int:
        return self.start + self.size


@dataclass(frozen=True, slots=True)
class PartitionTable:
    """`scheme`: `gpt` or `mbr`. `boots_by_bios`: its first sector has code."""

    scheme: str
    partitions: tuple[Partition, ...]
    boots_by_bios: bool


def read_table(file: BinaryIO) -> PartitionTable | None:
    """Return the table of the image in `file`, None where there is none. Where its partitions end is not looked at.

    Raises InputError for one that is damaged, or whose sectors are not those of QEMU's disks.
    """
    head = _read(file, 0, 2 * SECTOR)
    if len(head) < SECTOR or head[510:512] != _MBR_MAGIC:
        return None
    code = any(head[:440])
    entries = list(_mbr_entries(head))
    if any(kind == _PROTECTIVE for _, kind, _, _ in entries) or head[SECTOR : SECTOR + 8] == _GPT_MAGIC:
        return PartitionTable("gpt", tuple(_gpt(file, head)), code)
    if any(status not in (_INACTIVE, _ACTIVE) for status, _, _, _ in entries):
        # A file system's own boot sector ends in the same two bytes, and holds code where a table would be.
        return None
    found = []
    for number, (_, kind, start, count) in enumerate(entries, start=1):
        if kind and count and kind not in _EXTENDED:
            found.append(Partition(number, start * SECTOR, count * SECTOR, _MBR_TYPES.get(kind)))
    logical = [
        part for _, kind, start, count in entries if kind in _EXTENDED and count for part in _logical(file, start)
    ]
    found += [Partition(number, *part) for number, part in enumerate(logical, start=_FIRST_LOGICAL)]
    return PartitionTable("mbr", tuple(found), code) if found else None


def _read(file: BinaryIO, at: int, size: int) -> bytes:
    try:
        file.seek(at)
    except (OverflowError, ValueError):
        # Behind everything that a file can hold.
        return b""
    return file.read(size)


def _mbr_entries(sector: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield status, kind, first sector and number of sectors of each of four entries."""
    for index in range(4):
        status, _, kind, _, start, count = struct.unpack_from("<B3sB3sII", sector, 446 + 16 * index)
        yield status, kind, start, count


def _logical(file: BinaryIO, extended: int) -> Iterator[tuple[int, int, uuid.UUID | None]]:
    """Yield start, size and type of the logical partitions of the extended one at sector `extended`.

    Each has a sector of its own in front of it, which also says where the next of these is. Linux, too, stops at the
    first that is none.
    """
    here, seen = extended, set[int]()
    while here not in seen and len(seen) < _MOST_LOGICAL:
        seen.add(here)
        sector = _read(file, here * SECTOR, SECTOR)
        if len(sector) < SECTOR or sector[510:] != _MBR_MAGIC:
            return
        following = None
        for _, kind, start, count in _mbr_entries(sector):
            if kind in _EXTENDED and count and following is None:
                following = extended + start
            elif kind and count and kind not in _EXTENDED:
                yield (here + start) * SECTOR, count * SECTOR, _MBR_TYPES.get(kind)
        if following is None:
            return
        here = following
    raise InputError(f"its logical partitions lead in a circle, or are more than {_MOST_LOGICAL}: damaged")


def _gpt(file: BinaryIO, head: bytes) -> Iterator[Partition]:
    if head[SECTOR : SECTOR + 8] != _GPT_MAGIC:
        if _read(file, _LARGEST_SECTOR, 8) == _GPT_MAGIC:
            raise InputError(
                f"its GPT counts in sectors of {_LARGEST_SECTOR:,} bytes, and disks have {SECTOR} here",
                hint=f"make the image for sectors of {SECTOR} bytes",
            )
        raise InputError("its first sector announces a GPT, and there is none behind it: cut off, or damaged")
    size, checksum = struct.unpack_from("<II", head, SECTOR + 12)
    if not _HEADER_BYTES <= size <= SECTOR:
        raise InputError(f"its GPT is damaged: a header of {size:,} bytes")
    header = bytearray(head[SECTOR : SECTOR + size])
    header[16:20] = bytes(4)
    if zlib.crc32(header) != checksum:
        raise InputError("its GPT is damaged: the checksum of its header is wrong")
    at, count, each, entries_checksum = struct.unpack_from("<QIII", header, 72)
    if count > _MOST_ENTRIES or each < _ENTRY or each % _ENTRY or each > _LARGEST_ENTRY:
        raise InputError(f"its GPT is damaged: {count:,} entries of {each:,} bytes")
    entries = _read(file, at * SECTOR, count * each)
    if len(entries) < count * each or zlib.crc32(entries) != entries_checksum:
        raise InputError("its GPT is damaged: its entries are not all there, or their checksum is wrong")
    for number, place in enumerate(range(0, len(entries), each), start=1):
        entry = entries[place : place + _ENTRY]
        if not any(entry[:16]):
            continue
        first, last = struct.unpack_from("<QQ", entry, 32)
        if last < first:
            raise InputError(f"its GPT is damaged: partition {number} ends before it begins")
        kind, own = uuid.UUID(bytes_le=entry[:16]), uuid.UUID(bytes_le=entry[16:32])
        yield Partition(number, first * SECTOR, (last - first + 1) * SECTOR, kind, own)


def gpt_tables(size: int, partitions: Sequence[Partition]) -> tuple[bytes, bytes]:
    """Return what lies at the start (TABLE_BYTES) and at the end of an image of `size` bytes that has a GPT."""
    sectors = size // SECTOR
    table = bytearray(_ENTRIES * _ENTRY)
    for one in partitions:
        assert one.type is not None
        own = uuid.UUID(int=_DISK_ID.int - 0xFF + 0x100 + one.number)
        first, last = one.start // SECTOR, one.end // SECTOR - 1
        entry = one.type.bytes_le + own.bytes_le + struct.pack("<QQQ", first, last, 0)
        table[(one.number - 1) * _ENTRY : one.number * _ENTRY] = entry.ljust(_ENTRY, b"\0")
    protective = struct.pack("<B3sB3sII", 0, b"\0\2\0", _PROTECTIVE, b"\xff\xff\xff", 1, min(sectors - 1, 0xFFFFFFFF))
    mbr = bytes(446) + protective + bytes(48) + b"\x55\xaa"
    first_header = _header(bytes(table), here=1, other=sectors - 1, table_at=2, sectors=sectors)
    last_header = _header(bytes(table), here=sectors - 1, other=1, table_at=sectors - 33, sectors=sectors)
    return mbr + first_header + bytes(table), bytes(table) + last_header


def _header(table: bytes, *, here: int, other: int, table_at: int, sectors: int) -> bytes:
    def pack(checksum: int) -> bytes:
        fields = struct.pack("<8sIIIIQQQQ", b"EFI PART", 0x10000, 92, checksum, 0, here, other, 34, sectors - 34)
        return fields + _DISK_ID.bytes_le + struct.pack("<QIII", table_at, _ENTRIES, _ENTRY, zlib.crc32(table))

    return pack(zlib.crc32(pack(0))).ljust(SECTOR, b"\0")
