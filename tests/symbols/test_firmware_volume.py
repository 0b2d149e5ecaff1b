"""A UEFI firmware's programs, by name: volumes inside of volumes, packed ones, and what is damaged."""

import lzma
import struct
import uuid

import pytest

from bootlab.errors import InputError
from bootlab.symbols.firmware_volume import FirmwareProgram, ProgramKind, list_firmware_programs
from tests.build.image.small_images import CODE, efi_program

LZMA = uuid.UUID("ee4e5898-3914-4259-9d6e-dc7bd79403cf")


def section(kind: int, body: bytes) -> bytes:
    whole = (len(body) + 4).to_bytes(3, "little") + bytes([kind]) + body
    return whole + bytes(-len(whole) % 4)


def packed(body: bytes) -> bytes:
    data = lzma.compress(body, lzma.FORMAT_ALONE)
    return section(0x02, LZMA.bytes_le + struct.pack("<HH", 24, 1) + data)


def file(kind: int, *sections: bytes) -> bytes:
    body = b"".join(sections)
    size = (len(body) + 24).to_bytes(3, "little")
    whole = uuid.UUID(int=kind).bytes_le + bytes(2) + bytes([kind, 0]) + size + b"\xf8" + body
    return whole + b"\xff" * (-len(whole) % 8)


def volume(*files: bytes) -> bytes:
    body = b"".join(files) + b"\xff" * 64
    header = (
        bytes(16) + bytes(16) + struct.pack("<Q4sI", 72 + len(body), b"_FVH", 0) + struct.pack("<HHHBB", 72, 0, 0, 0, 2)
    )
    return header.ljust(72, b"\0") + body


def named(name: str, image: bytes, kind: int = 0x10) -> tuple[bytes, bytes]:
    return section(kind, image), section(0x15, name.encode("utf-16-le") + b"\0\0")


def te_program() -> bytes:
    # Its headers are cut off up to 0x240 bytes, 40 of which its own takes: the entry at 0x260 is at 0x48 in the file.
    return struct.pack("<2sHBBHI", b"VZ", 0x8664, 1, 0, 0x240, 0x260).ljust(0x48, b"\0") + CODE[16:] + bytes(16)


def test_programs_of_a_packed_volume_in_a_volume() -> None:
    inner = volume(
        file(7, *named("Virtio Blk", efi_program())), file(0xF0, b"padding"), file(9, *named("Shell", efi_program()))
    )
    outer = volume(file(6, *named("PlatformPei", te_program(), 0x12)), file(0x0B, packed(section(0x17, inner))))
    found = list_firmware_programs(bytes(100) + outer + b"\xff" * 100)
    assert [(one.name, one.kind) for one in found] == [
        ("PlatformPei", ProgramKind.PEI_DRIVER),
        ("Virtio_Blk", ProgramKind.DXE_DRIVER),
        ("Shell", ProgramKind.APPLICATION),
    ]
    assert found[1] == FirmwareProgram("Virtio_Blk", ProgramKind.DXE_DRIVER, (0x10,), CODE[16:32], 0x1010, 0x100000)
    # One that runs where it lies is also found there: 72 of the volume's header, 24 of the file's, 4 of the section's.
    assert found[0].places == (72 + 24 + 4 + 0x48, 0x260) and found[0].code == CODE[16:32]
    assert (found[0].before, found[0].size) == (0x48, len(te_program()))


def test_the_services_of_the_dxe_core() -> None:
    services = bytearray(24 + 8 * 44)
    services[:8] = b"BOOTSERV"
    image = bytearray(efi_program(text=bytes(0x100) + bytes(services)))
    (header,) = struct.unpack_from("<I", image, 0x3C)
    struct.pack_into("<Q", image, header + 48, 0x400000)
    table = image.find(b"BOOTSERV")
    struct.pack_into("<Q", image, table + 24 + 8 * 26, 0x400000 + 0x1008)
    found = list_firmware_programs(volume(file(5, *named("DxeCore", bytes(image)))))
    assert found[0].kind is ProgramKind.DXE_CORE
    assert found[1] == FirmwareProgram("ExitBootServices", ProgramKind.SERVICE, (8,), CODE[8:24])
    assert len(found) == 2


def test_one_that_is_damaged_costs_itself_alone() -> None:
    broken, whole = named("Broken", efi_program()[:80]), named("Whole", efi_program())
    found = list_firmware_programs(volume(file(7, *broken), file(7, *whole)))
    assert [one.name for one in found] == ["Whole"]


@pytest.mark.parametrize("data", [b"", bytes(1 << 16), b"_FVH" * 99, volume()[:60], volume(file(7, b"\xff" * 40))])
def test_what_is_no_firmware(data: bytes) -> None:
    with pytest.raises(InputError, match="no UEFI firmware"):
        list_firmware_programs(data)
