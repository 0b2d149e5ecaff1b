"""A boot entry of UEFI: the variable by which firmware starts a program of a disk itself, with words for it.

Pure. The entry's form is that of the UEFI specification (3.1.3, Load Options; 10.3, device paths), and OVMF's file of
variables has that of edk2 (MdeModulePkg/Include/Guid/VariableFormat.h).
"""

import struct
import uuid

from bootlab.build.formats.partitions import SECTOR, Partition
from bootlab.errors import InputError

_GLOBAL = uuid.UUID("8be4df61-93ca-11d2-aa0d-00e098032b8c")
_STORE = uuid.UUID("aaf32c78-947b-439a-a180-2e144ec37792")
_VOLUME_HEADER_SIZE_AT = 48
_STORE_HEADER = 28
_VARIABLE, _ADDED, _DELETED = 0x55AA, 0x3F, 0xFD
_VARIABLE_HEADER = struct.Struct("<HBxI8x16x4xII16s")
_LASTING = 7
"""EFI_VARIABLE_NON_VOLATILE, BOOTSERVICE_ACCESS, RUNTIME_ACCESS."""
_ACTIVE = 1
_MEDIA, _HARD_DRIVE, _FILE_PATH = 4, 1, 4
_GPT, _BY_GUID = 2, 2
_END = b"\x7f\xff\x04\x00"
_NUMBER = 0x0B07
"""Of the entry; OVMF numbers its own from 0."""


def boot_entry(partition: Partition, path: str, title: str, words: str) -> bytes:
    """Return the content of a variable Boot####. `path`: of the program, from the partition's root, with slashes.

    Raises InputError for a partition of no GPT, which has nothing that the entry could know it by.
    """
    if partition.own is None:
        raise InputError(f"image.loader: partition {partition.number} is in no GPT: a boot entry cannot name it")
    first, sectors = partition.start // SECTOR, partition.size // SECTOR
    drive = struct.pack("<IQQ16sBB", partition.number, first, sectors, partition.own.bytes_le, _GPT, _BY_GUID)
    file = _text("\\" + path.strip("/").replace("/", "\\"))
    where = _node(_HARD_DRIVE, drive) + _node(_FILE_PATH, file) + _END
    return struct.pack("<IH", _ACTIVE, len(where)) + _text(title) + where + _text(words)


def with_boot_entry(variables: bytes, entry: bytes) -> bytes:
    """Return a file of OVMF's variables in which `entry` is all that the firmware boots.

    Raises InputError for a file of another kind, and for one that has no room.
    """
    found = bytearray(variables)
    start, end = _store(variables)
    named = {f"Boot{_NUMBER:04X}": entry, "BootOrder": struct.pack("<H", _NUMBER)}
    at = start
    while at + _VARIABLE_HEADER.size <= end:
        begin, state, _, name_size, size, vendor = _VARIABLE_HEADER.unpack_from(variables, at)
        if begin != _VARIABLE:
            break
        name = variables[at + _VARIABLE_HEADER.size :][:name_size]
        if vendor == _GLOBAL.bytes_le and name in map(_text, named):
            found[at + 2] = state & _DELETED
        at = _aligned(at + _VARIABLE_HEADER.size + name_size + size)
    for text, data in named.items():
        name = _text(text)
        header = _VARIABLE_HEADER.pack(_VARIABLE, _ADDED, _LASTING, len(name), len(data), _GLOBAL.bytes_le)
        whole = header + name + data
        if at + len(whole) > end:
            raise InputError("machine.firmware: no room for a boot entry in OVMF's variables")
        found[at : at + len(whole)] = whole
        at = _aligned(at + len(whole))
    return bytes(found)


def _store(variables: bytes) -> tuple[int, int]:
    # Where variables begin, and where there is no more room for one.
    try:
        (header,) = struct.unpack_from("<H", variables, _VOLUME_HEADER_SIZE_AT)
        guid, size = struct.unpack_from("<16sI", variables, header)
    except struct.error:
        guid, size, header = b"", 0, 0
    if guid != _STORE.bytes_le or not _STORE_HEADER <= size <= len(variables) - header:
        raise InputError("machine.firmware: its variables are of no form that a boot entry can be written into")
    return _aligned(header + _STORE_HEADER), header + size


def _aligned(at: int) -> int:
    return -(-at // 4) * 4


def _node(kind: int, data: bytes) -> bytes:
    return struct.pack("<BBH", _MEDIA, kind, 4 + len(data)) + data


def _text(text: str) -> bytes:
    return text.encode("utf-16-le") + b"\0\0"
