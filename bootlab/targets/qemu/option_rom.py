"""The ROM of a network card, which firmware copies and starts: what the plugin is told, to see that it does.

The PCI Firmware Specification's format: one image behind the other, each for one kind of firmware.
"""

import struct
from collections.abc import Iterator

from bootlab.build.image.efi_program import parse_efi_program
from bootlab.errors import InputError
from bootlab.profile.asked.pc_stages import rom_lines
from bootlab.symbols.firmware_volume import CODE_BYTES

_FOR_BIOS, _FOR_UEFI = 0, 3
_BLOCK = 512
_BIOS_ENTRY = 3
# SeaBIOS puts each ROM at the next 2 KiB (OPTION_ROM_ALIGN in its src/optionroms.c), and UEFI a program at a page.
_BIOS_PLACES = (_BIOS_ENTRY, 2048 + _BIOS_ENTRY)


def option_rom_lines(rom: bytes) -> list[str]:
    """Return the plugin's lines for a ROM: BIOS and UEFI each enter it somewhere else. Of one that is damaged, none."""
    try:
        entries = [entry for image in _images(rom) for entry in _entries(*image)]
    except (struct.error, InputError):
        return []
    return rom_lines([(at, code) for at, code in entries if len(code) >= CODE_BYTES])


def _images(rom: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each image with the kind of firmware that it is for."""
    at, is_last = 0, False
    while not is_last and rom[at : at + 2] == b"\x55\xaa":
        (about,) = struct.unpack_from("<H", rom, at + 0x18)
        blocks, _, kind, flags = struct.unpack_from("<HHBB", rom, at + about + 0x10)
        yield kind, rom[at : at + blocks * _BLOCK]
        at, is_last = at + max(blocks, 1) * _BLOCK, bool(flags & 0x80)


def _entries(kind: int, image: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield where an image may be entered, and its first bytes there; nothing of one for other firmware, or packed."""
    if kind == _FOR_BIOS:
        yield from ((place, image[_BIOS_ENTRY:]) for place in _BIOS_PLACES)
    if kind == _FOR_UEFI:
        packed, begins = struct.unpack_from("<H8xH", image, 0xC)
        if not packed:
            program = parse_efi_program(image[begins:])
            yield program.entry, program.code
