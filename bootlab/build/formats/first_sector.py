"""A disk's first sector as BIOS starts it: the code in it, and where GRUB's has the rest of itself loaded from."""

import os
from typing import BinaryIO

from bootlab.build.formats.partitions import SECTOR

CODE_BYTES = 16
"""As much of a program's first instructions as tells it from another."""
_MAGIC = b"\x55\xaa"
# Where boot.img has the sector of core.img (GRUB, include/grub/i386/pc/boot.h), and a hybrid ISO's boot_hybrid.img.
_CORE_AT, _HYBRID_CORE_AT = 0x5C, 0x1B0


def is_grub(file: BinaryIO) -> bool:
    """Return whether the code of a disk's first sector is GRUB's."""
    file.seek(0)
    return b"GRUB" in file.read(440)


def disk_code(file: BinaryIO) -> tuple[str, str]:
    """Return the first bytes of a disk's code and of GRUB's core.img, in hex; the latter empty for other code."""
    file.seek(0)
    head = file.read(SECTOR)
    return head[:CODE_BYTES].hex(), _core(file, head, _CORE_AT) if b"GRUB" in head else ""


def hybrid_code(file: BinaryIO) -> tuple[str, str] | None:
    """Return the same of an ISO that boots as a stick, too; None where GRUB does not start it so."""
    file.seek(0)
    head = file.read(SECTOR)
    if b"GRUB" not in head or head[510:] != _MAGIC:
        return None
    return head[:CODE_BYTES].hex(), _core(file, head, _HYBRID_CORE_AT)


def _core(file: BinaryIO, head: bytes, place: int) -> str:
    # Empty where what is written there is behind the disk's end.
    at = int.from_bytes(head[place : place + 8], "little") * SECTOR
    if at >= os.fstat(file.fileno()).st_size:
        return ""
    file.seek(at)
    return file.read(CODE_BYTES).hex()
