"""A UEFI firmware's file (OVMF_CODE.fd) -> its programs by the names that their makers gave them, and their code.

No symbols are needed: a firmware volume (UEFI PI specification, volume 3) has the name of each program beside it. It is
loaded at a page of its own or runs where it lies, so the first bytes of its code and their place in a page find it.
"""

import lzma
import struct
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from bootlab.errors import InputError

CODE_BYTES = 16
PAGE = 4096

_LZMA = uuid.UUID("ee4e5898-3914-4259-9d6e-dc7bd79403cf")
_VOLUME_MAGIC = b"_FVH"
_SECTION_GUID_DEFINED, _SECTION_PE, _SECTION_TE, _SECTION_NAME, _SECTION_VOLUME = 0x02, 0x10, 0x12, 0x15, 0x17
_PADDING_FILE = 0xF0
_DEEPEST = 8
_BOOT_SERVICES = b"BOOTSERV"
_SERVICES_AT = 24
# Of the table of boot services (UEFI specification, 4.4): the place of a pointer in it.
_SERVICES = {"LoadImage": 22, "StartImage": 23, "ExitBootServices": 26, "ConnectController": 30}
_DAMAGED = (struct.error, ValueError, IndexError, lzma.LZMAError)


class ProgramKind(Enum):
    """What a program is for, by the type of its file."""

    SEC = 3
    PEI_CORE = 4
    DXE_CORE = 5
    PEI_DRIVER = 6
    DXE_DRIVER = 7
    COMBINED = 8
    APPLICATION = 9
    SERVICE = -1
    """A function of the DXE core that all others call."""


@dataclass(frozen=True, slots=True)
class FirmwareProgram:
    """`places`: where in a page its first instruction may be; `code`: the bytes there.

    `before`: bytes of it in memory ahead of that instruction; `size`: all of them. Both are 0 of a service.
    """

    name: str
    kind: ProgramKind
    places: tuple[int, ...]
    code: bytes
    before: int = 0
    size: int = 0


def list_firmware_programs(data: bytes) -> list[FirmwareProgram]:
    """Return the programs of a firmware's file, in its order; the services of its DXE core with them.

    Raises InputError for a file that has no firmware volume.
    """
    found: list[FirmwareProgram] = []
    for volume_file in _whole(_volumes(data, 0)):
        try:
            kind = ProgramKind(volume_file.type)
            found.append(_program(volume_file, kind))
            if kind is ProgramKind.DXE_CORE:
                found += _services(volume_file.image)
        except _DAMAGED:
            # What is no program for this machine: an option ROM, an image of another kind.
            continue
    if not found:
        raise InputError("no UEFI firmware: it has no firmware volume with a program in it")
    return found


@dataclass(frozen=True, slots=True)
class _VolumeFile:
    name: str
    type: int
    image: bytes
    place: int | None
    """Of the image in its volume, where it is not unpacked first."""


def _whole(files: Iterator[_VolumeFile]) -> Iterator[_VolumeFile]:
    # Behind what is damaged there is no telling where the next one begins.
    try:
        yield from files
    except _DAMAGED:
        return


def _volumes(data: bytes, depth: int) -> Iterator[_VolumeFile]:
    at = 0
    while depth < _DEEPEST and (at := data.find(_VOLUME_MAGIC, at)) >= 0:
        start = at - 40
        if start >= 0:
            (length,) = struct.unpack_from("<Q", data, start + 32)
            header, extended = struct.unpack_from("<H2xH", data, start + 48)
            if 0 < length <= len(data) - start and header < PAGE:
                if extended:
                    header = extended + struct.unpack_from("<I", data, start + extended + 16)[0]
                yield from _files(data[start : start + length], -(-header // 8) * 8, depth)
                at = start + length
                continue
        at += len(_VOLUME_MAGIC)


def _files(volume: bytes, at: int, depth: int) -> Iterator[_VolumeFile]:
    while at + 24 <= len(volume) and volume[at : at + 24] != b"\xff" * 24:
        kind, attributes = volume[at + 18], volume[at + 19]
        size, header = int.from_bytes(volume[at + 20 : at + 23], "little"), 24
        if attributes & 1:
            (size,), header = struct.unpack_from("<Q", volume, at + 24), 32
        if size < header or at + size > len(volume):
            return
        if kind != _PADDING_FILE:
            name = str(uuid.UUID(bytes_le=volume[at : at + 16]))
            yield from _sections(volume[at + header : at + size], _VolumeFile(name, kind, b"", at + header), depth)
        at = -(-(at + size) // 8) * 8


def _sections(data: bytes, of: _VolumeFile, depth: int) -> Iterator[_VolumeFile]:
    at, image, name, place = 0, b"", of.name, None
    while at + 4 <= len(data):
        size, kind, header = int.from_bytes(data[at : at + 3], "little"), data[at + 3], 4
        if size == 0xFFFFFF:
            (size,), header = struct.unpack_from("<I", data, at + 4), 8
        if size < header or at + size > len(data):
            break
        body = data[at + header : at + size]
        if kind == _SECTION_GUID_DEFINED:
            (offset,) = struct.unpack_from("<H", body, 16)
            packed = data[at + offset : at + size]
            if uuid.UUID(bytes_le=body[:16]) == _LZMA:
                packed = lzma.decompress(packed, lzma.FORMAT_ALONE)
            yield from _sections(packed, _VolumeFile(of.name, of.type, b"", None), depth + 1)
        elif kind == _SECTION_VOLUME:
            yield from _volumes(body, depth + 1)
        elif kind in (_SECTION_PE, _SECTION_TE):
            image, place = body, None if of.place is None else of.place + at + header
        elif kind == _SECTION_NAME:
            name = body.decode("utf-16-le", errors="replace").rstrip("\0")
        at = -(-(at + size) // 4) * 4
    if image:
        yield _VolumeFile(name, of.type, image, place)


def _program(file: _VolumeFile, kind: ProgramKind) -> FirmwareProgram:
    image = file.image
    if image[:2] == b"VZ":
        # A TE image: a PE one whose headers are cut off, all but 40 bytes of them.
        stripped, entry = struct.unpack_from("<6xHI", image)
        cut = stripped - 40
        code = image[entry - cut :][:CODE_BYTES]
        size = len(image)
    else:
        entry, cut = _pe_entry(image), 0
        code = _at(image, entry)
        size = _pe_size(image)
    places = [entry % PAGE]
    if file.place is not None and kind in (ProgramKind.SEC, ProgramKind.PEI_CORE, ProgramKind.PEI_DRIVER):
        # It also runs where it lies in the flash chip, or in a copy of the volume.
        places.insert(0, (file.place + entry - cut) % PAGE)
    if len(code) < CODE_BYTES:
        raise ValueError("no code at its entry")
    if not 0 <= entry - cut < size:
        raise ValueError("its entry is outside of it")
    return FirmwareProgram(file.name.replace(" ", "_"), kind, tuple(dict.fromkeys(places)), code, entry - cut, size)


def _services(image: bytes) -> Iterator[FirmwareProgram]:
    table = image.find(_BOOT_SERVICES)
    (header,) = struct.unpack_from("<I", image, 0x3C)
    (base,) = struct.unpack_from("<Q", image, header + 48)
    for name, index in _SERVICES.items() if table >= 0 else ():
        (address,) = struct.unpack_from("<Q", image, table + _SERVICES_AT + 8 * index)
        code = _at(image, address - base) if address > base else b""
        if len(code) == CODE_BYTES:
            yield FirmwareProgram(name, ProgramKind.SERVICE, ((address - base) % PAGE,), code)


def _pe_entry(image: bytes) -> int:
    (header,) = struct.unpack_from("<I", image, 0x3C)
    if image[:2] != b"MZ" or image[header : header + 4] != b"PE\0\0":
        raise ValueError("no PE image")
    (entry,) = struct.unpack_from("<I", image, header + 40)
    return int(entry)


def _pe_size(image: bytes) -> int:
    (header,) = struct.unpack_from("<I", image, 0x3C)
    (size,) = struct.unpack_from("<I", image, header + 24 + 56)
    return int(size)


def _at(image: bytes, address: int) -> bytes:
    (header,) = struct.unpack_from("<I", image, 0x3C)
    (count,), (optional,) = struct.unpack_from("<H", image, header + 6), struct.unpack_from("<H", image, header + 20)
    for index in range(count):
        size, start, raw_size, raw = struct.unpack_from("<IIII", image, header + 24 + optional + 40 * index + 8)
        if start <= address < start + max(size, raw_size):
            return image[raw + address - start :][:CODE_BYTES]
    return image[address : address + CODE_BYTES]
