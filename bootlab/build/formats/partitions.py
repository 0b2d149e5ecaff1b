"""Partition tables: GPT and MBR, read out of an image's first sectors, and a GPT written the same every time.

Pure: bytes in, values out. Places are bytes from the start of the image.
"""

import struct
import uuid
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from bootlab.errors import InputError

SECTOR = 512
TABLE_BYTES = 34 * SECTOR
"""As much of an image's start as a table of 128 entries takes, the usual number."""
ESP = uuid.UUID("c12a7328-f81f-11d2-ba4b-00a0c93ec93b")
BIOS_BOOT = uuid.UUID("21686148-6449-6e6f-744e-656564454649")
LINUX_ROOT_X86_64 = uuid.UUID("4f68bce3-e8cd-4db1-96e7-fbcaf984b709")

_ENTRIES, _ENTRY = 128, 128
_DISK_ID = uuid.UUID("b0071ab0-0000-4000-8000-0000000000ff")
_MBR_TYPES = {0xEF: ESP}
_EXTENDED = (0x05, 0x0F, 0x85)
_PROTECTIVE = 0xEE


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


def parse_table(head: bytes) -> PartitionTable | None:
    """Return the table in an image's first bytes (TABLE_BYTES of them), None where there is none.

    Raises InputError for a GPT that is damaged.
    """
    if len(head) < SECTOR or head[510:512] != b"\x55\xaa":
        return None
    code = any(head[:440])
    entries = [struct.unpack_from("<B3sB3sII", head, 446 + 16 * index) for index in range(4)]
    if any(entry[2] == _PROTECTIVE for entry in entries) or head[SECTOR : SECTOR + 8] == b"EFI PART":
        return PartitionTable("gpt", tuple(_gpt(head)), code)
    found = [
        Partition(number, start * SECTOR, count * SECTOR, _MBR_TYPES.get(kind))
        for number, (_, _, kind, _, start, count) in enumerate(entries, start=1)
        if kind and count and kind not in _EXTENDED
    ]
    # A file system's own boot sector ends in the same two bytes, and holds no table.
    return PartitionTable("mbr", tuple(found), code) if found else None


def _gpt(head: bytes) -> list[Partition]:
    if head[SECTOR : SECTOR + 8] != b"EFI PART":
        raise InputError("its first sector announces a GPT, and there is none behind it: cut off, or damaged")
    size, checksum = struct.unpack_from("<II", head, SECTOR + 12)
    header = bytearray(head[SECTOR : SECTOR + max(92, min(size, SECTOR))])
    header[16:20] = bytes(4)
    if zlib.crc32(header) != checksum:
        raise InputError("its GPT is damaged: the checksum of its header is wrong")
    at, count, each = struct.unpack_from("<QII", head, SECTOR + 72)
    found = []
    for index in range(min(count, 1024)):
        place = at * SECTOR + index * each
        entry = head[place : place + 48]
        if len(entry) < 48 or not any(entry[:16]):
            continue
        first, last = struct.unpack_from("<QQ", entry, 32)
        kind, own = uuid.UUID(bytes_le=entry[:16]), uuid.UUID(bytes_le=entry[16:32])
        found.append(Partition(index + 1, first * SECTOR, (last - first + 1) * SECTOR, kind, own))
    return found


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
