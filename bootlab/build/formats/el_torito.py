"""ISO 9660 images: whether all of one is there, and which programs on it firmware starts, by its El Torito catalogue.

A catalogue names a program for each firmware: for BIOS code that is loaded to 0x7c00 (no emulation of a floppy), for
UEFI a FAT file system, which is read as an EFI system partition. Bytes in, values out (El Torito 1.0; UEFI 13.3.2).
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from bootlab.build.formats.first_sector import CODE_BYTES
from bootlab.errors import InputError

SECTOR = 2048
MAGIC, MAGIC_AT = b"CD001", 16 * SECTOR + 1

_DESCRIPTORS = range(16, 80)
_BOOT_RECORD, _PRIMARY, _END = 0, 1, 255
_SYSTEM = b"EL TORITO SPECIFICATION"
_VALIDATION, _BOOTABLE, _HEADERS, _LAST_HEADER = 0x01, 0x88, (0x90, 0x91), 0x91
_EXTENSION, _MORE = 0x44, 0x20
_BIOS, _UEFI = 0x00, 0xEF
_VIRTUAL_SECTOR = 512
_NO_EMULATION = 0
# cdboot.img of GRUB takes one sector of a CD, and starts what lies behind it and behind diskboot.img.
_CDBOOT, _CDBOOT_SAYS, _DISKBOOT_SAYS = SECTOR, b"cdrom read fails", b"loading\0"
_DISKBOOT = 512


@dataclass(frozen=True, slots=True)
class BootPrograms:
    """Where on the image each program lies: its first byte, and how many. None: it has none for that firmware."""

    bios: tuple[int, int] | None
    uefi: tuple[int, int] | None


def read_boot_programs(file: BinaryIO, size: int) -> BootPrograms:
    """Return what an ISO image of `size` bytes has firmware start.

    Raises InputError for one that is cut off, has no El Torito catalogue, or one that is damaged.
    """
    catalogue_at = None
    for kind, body in _descriptors(file):
        if kind == _PRIMARY:
            (sectors,) = struct.unpack_from("<I", body, 80)
            if sectors * SECTOR > size:
                raise InputError(f"cut off: its file system has {sectors * SECTOR:,} bytes, and the file {size:,}")
        elif kind == _BOOT_RECORD and body[7:].startswith(_SYSTEM) and catalogue_at is None:
            (catalogue_at,) = struct.unpack_from("<I", body, 0x47)
    if catalogue_at is None:
        raise InputError("an ISO image that nothing boots: it has no El Torito boot record")
    file.seek(catalogue_at * SECTOR)
    catalogue = file.read(SECTOR)
    if not _is_valid(catalogue):
        raise InputError("its El Torito catalogue is damaged, or lies behind its end")
    found: dict[int, tuple[int, int]] = {}
    for platform, media, count, at in _entries(catalogue):
        start = at * SECTOR
        # Of 512 bytes; makers that have no number write 0 or 1, and UEFI then takes all that follows.
        length = count * _VIRTUAL_SECTOR if count > 1 or platform != _UEFI else size - start
        if start >= size or start + length > size:
            raise InputError(f"cut off: what it boots lies at byte {start:,}, and the file has {size:,}")
        if media == _NO_EMULATION:
            found.setdefault(platform, (start, length))
    return BootPrograms(found.get(_BIOS), found.get(_UEFI))


def grub_code(program: bytes) -> tuple[str, str] | None:
    """Return the first bytes of GRUB's cdboot.img and of what that starts, in hex; None for another program."""
    if _CDBOOT_SAYS not in program[:_CDBOOT] or _DISKBOOT_SAYS not in program[_CDBOOT : _CDBOOT + _DISKBOOT]:
        return None
    core = _CDBOOT + _DISKBOOT
    return program[:CODE_BYTES].hex(), program[core : core + CODE_BYTES].hex()


def _descriptors(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    for sector in _DESCRIPTORS:
        file.seek(sector * SECTOR)
        body = file.read(SECTOR)
        if len(body) < SECTOR:
            raise InputError("cut off: its volume descriptors are not all there")
        if body[1:6] != MAGIC or body[0] == _END:
            return
        yield body[0], body


def _is_valid(catalogue: bytes) -> bool:
    if len(catalogue) < SECTOR or catalogue[0] != _VALIDATION or catalogue[30:32] != b"\x55\xaa":
        return False
    words: tuple[int, ...] = struct.unpack("<16H", catalogue[:32])
    return sum(words) & 0xFFFF == 0


def _entries(catalogue: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield platform, medium, 512-byte sectors and place (in sectors of a CD) of each entry that boots."""
    yield from _entry(catalogue[1], catalogue[32:64])
    at = 64
    while at + 32 <= len(catalogue) and catalogue[at] in _HEADERS:
        kind, platform, count = struct.unpack_from("<BBH", catalogue, at)
        at += 32
        for _ in range(count):
            yield from _entry(platform, catalogue[at : at + 32])
            more = catalogue[at + 1 : at + 2] if at + 32 <= len(catalogue) else b""
            at += 32
            while more and more[0] & _MORE and catalogue[at : at + 1] == bytes([_EXTENSION]):
                more = catalogue[at + 1 : at + 2]
                at += 32
        if kind == _LAST_HEADER:
            return


def _entry(platform: int, entry: bytes) -> Iterator[tuple[int, int, int, int]]:
    if len(entry) == 32 and entry[0] == _BOOTABLE:
        count, at = struct.unpack_from("<HI", entry, 6)
        yield platform, entry[1] & 0xF, count, at
