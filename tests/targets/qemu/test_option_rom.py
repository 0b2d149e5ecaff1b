"""A network card's ROM: where either firmware enters it, and that damage does no harm."""

import struct

from bootlab.targets.qemu.option_rom import option_rom_lines
from tests.build.image.small_images import efi_program

BIOS, UEFI = 0, 3
CODE = bytes(range(0x80, 0x90))
MARK = "moved driver:option-ROM"


def image(kind: int, content: bytes, *, last: bool, packed: int = 0) -> bytes:
    """Return one image of a ROM, with `content` behind its header."""
    begins = 0x40
    blocks = -(-(begins + len(content)) // 512)
    head = bytearray(begins)
    head[:2] = b"\x55\xaa"
    if kind == BIOS:
        head[3:0x13] = CODE
    else:
        struct.pack_into("<H8xH", head, 0xC, packed, begins)
    struct.pack_into("<H", head, 0x18, 0x1C)
    head[0x1C:0x20] = b"PCIR"
    struct.pack_into("<HHBB", head, 0x2C, blocks, 0, kind, 0x80 if last else 0)
    return (bytes(head) + content).ljust(blocks * 512, b"\0")


def test_each_firmware_has_an_image_of_its_own() -> None:
    for_uefi = efi_program()
    rom = image(BIOS, b"", last=False) + image(UEFI, for_uefi, last=True)
    bios, also_bios, uefi = option_rom_lines(rom)
    assert [bios, also_bios] == [f"{MARK} {place} {CODE.hex()}" for place in ("3", "803")]
    assert uefi.startswith(f"{MARK} ") and uefi not in (bios, also_bios)
    assert option_rom_lines(image(UEFI, for_uefi, last=True)) == [uefi]
    assert option_rom_lines(image(BIOS, b"", last=True) + image(UEFI, for_uefi, last=True)) == [bios, also_bios]


def test_a_program_that_is_packed_is_not_looked_for() -> None:
    assert option_rom_lines(image(UEFI, efi_program(), last=True, packed=1)) == []


def test_what_is_no_rom_or_is_damaged_has_no_lines() -> None:
    assert option_rom_lines(b"") == option_rom_lines(b"\x55\xaa") == option_rom_lines(bytes(512)) == []
    assert option_rom_lines(image(UEFI, b"no program", last=True)) == []
    empty = bytearray(image(BIOS, b"", last=False))
    struct.pack_into("<H", empty, 0x2C, 0)
    assert option_rom_lines(bytes(empty)) == []
