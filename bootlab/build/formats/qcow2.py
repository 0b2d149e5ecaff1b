"""The header of a qcow2 image: how large its disk is, and which other files it says that it is made of.

Pure: bytes in, values out (QEMU, docs/interop/qcow2.txt).
"""

import os
import struct
from dataclasses import dataclass

from bootlab.errors import InputError

MAGIC = b"QFI\xfb"

_V2_HEADER, _VERSIONS = 72, (2, 3)
_CORRUPT, _DATA_ELSEWHERE = 2, 4
_END, _BACKING_FORMAT = 0, 0xE2792ACA


@dataclass(frozen=True, slots=True)
class Qcow2Header:
    """`bytes`: of the guest's disk. `backing`: what it is an overlay of, empty for nothing; `backing_format`: as it
    says, empty where it does not.
    """

    bytes: int
    backing: str = ""
    backing_format: str = ""


def parse_header(head: bytes) -> Qcow2Header:
    """Return what a qcow2 image's first bytes say. Raises InputError for an image that is refused."""
    try:
        version, at, size, bytes_, crypt = struct.unpack_from(">IQI4xQI", head, 4)
        features, length = struct.unpack_from(">Q20xI", head, 72) if version >= 3 else (0, _V2_HEADER)
    except struct.error as error:
        raise InputError("a qcow2 image that is cut off", hint="copy or download it again") from error
    if version not in _VERSIONS:
        raise InputError(f"qcow version {version}, expected 2 or 3", hint="qemu-img convert -O qcow2")
    if crypt:
        raise InputError("an encrypted qcow2 image, which bootlab has no key for")
    if features & _DATA_ELSEWHERE:
        raise InputError("a qcow2 image whose data is in another file: refused", hint="qemu-img convert")
    if features & _CORRUPT:
        raise InputError("a qcow2 image that is marked as corrupt", hint="qemu-img check -r all repairs a copy")
    if not at:
        return Qcow2Header(bytes_)
    name = head[at : at + size]
    if len(name) < size or not size or any(byte < 0x20 for byte in name) or b":" in name.partition(b"/")[0]:
        # A protocol, as in nbd:, or json:{}: something that is no file.
        shown = name[:80].decode(errors="replace")
        raise InputError(f"is an overlay of {shown!r}, which is no file: refused")
    return Qcow2Header(bytes_, os.fsdecode(name), _backing_format(head, length))


def _backing_format(head: bytes, at: int) -> str:
    while at + 8 <= len(head):
        kind, size = struct.unpack_from(">II", head, at)
        if kind == _BACKING_FORMAT:
            return head[at + 8 : at + 8 + size].decode("ascii", errors="replace")
        if kind == _END:
            break
        at += 8 + -(-size // 8) * 8
    return ""
