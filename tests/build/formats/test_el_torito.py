"""El Torito catalogues: what each firmware is to start, and ISO images that are refused; made by hand, byte by byte."""

import io
import struct

import pytest

from bootlab.build.formats.el_torito import SECTOR, BootPrograms, grub_code, read_boot_programs
from bootlab.errors import InputError

SECTORS = 40
BIOS_AT, UEFI_AT = 20, 24


def entry(at: int, count: int, *, boots: int = 0x88, media: int = 0) -> bytes:
    return struct.pack("<BBHBBHI", boots, media, 0, 0, 0, count, at).ljust(32, b"\0")


def catalogue(*entries: bytes, platform: int = 0) -> bytes:
    head = bytearray(struct.pack("<BB", 1, platform).ljust(30, b"\0") + b"\x55\xaa")
    struct.pack_into("<H", head, 28, -sum(struct.unpack("<16H", head)) & 0xFFFF)
    return bytes(head) + b"".join(entries)


UEFI_HEADER = struct.pack("<BBH", 0x91, 0xEF, 1).ljust(32, b"\0")
BOTH = catalogue(entry(BIOS_AT, 4), UEFI_HEADER, entry(UEFI_AT, 8))


def iso(boots: bytes = BOTH, *, system: bytes = b"EL TORITO SPECIFICATION", sectors: int = SECTORS) -> bytes:
    data = bytearray(SECTORS * SECTOR)
    primary = bytearray(b"\1CD001\1".ljust(SECTOR, b"\0"))
    struct.pack_into("<I", primary, 80, sectors)
    record = bytearray((b"\0CD001\1" + system).ljust(SECTOR, b"\0"))
    struct.pack_into("<I", record, 0x47, 19)
    for number, body in ((16, primary), (17, record), (18, b"\xffCD001\1"), (19, boots)):
        data[number * SECTOR : number * SECTOR + len(body)] = body
    return bytes(data)


def read(data: bytes) -> BootPrograms:
    return read_boot_programs(io.BytesIO(data), len(data))


def test_a_program_for_each_firmware() -> None:
    assert read(iso()) == BootPrograms((BIOS_AT * SECTOR, 2048), (UEFI_AT * SECTOR, 4096))
    assert read(iso(catalogue(entry(UEFI_AT, 8), platform=0xEF))) == BootPrograms(None, (UEFI_AT * SECTOR, 4096))


@pytest.mark.parametrize("count", [0, 1])
def test_without_a_length_uefi_takes_what_follows(count: int) -> None:
    found = read(iso(catalogue(entry(BIOS_AT, 4), UEFI_HEADER, entry(UEFI_AT, count))))
    assert found.uefi == (UEFI_AT * SECTOR, (SECTORS - UEFI_AT) * SECTOR)


def test_what_does_not_boot_or_is_a_floppy_is_left_out() -> None:
    assert read(iso(catalogue(entry(BIOS_AT, 4, boots=0)))) == BootPrograms(None, None)
    assert read(iso(catalogue(entry(BIOS_AT, 4, media=2)))) == BootPrograms(None, None)


def test_extensions_of_an_entry_are_passed_over() -> None:
    more = bytearray(entry(BIOS_AT, 4))
    more[1] |= 0x20
    header = struct.pack("<BBH", 0x91, 0xEF, 2).ljust(32, b"\0")
    extension = bytes([0x44, 0]).ljust(32, b"\0")
    found = read(iso(catalogue(entry(BIOS_AT, 4), header, bytes(more), extension, entry(UEFI_AT, 8))))
    assert found.uefi == (BIOS_AT * SECTOR, 2048), "the first one"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (iso(system=b"EL DORADO"), "no El Torito boot record"),
        (iso(sectors=SECTORS + 1), "cut off: its file system has 83,968 bytes, and the file 81,920"),
        (iso()[: 17 * SECTOR], "cut off"),
        (iso(b"\2" + BOTH[1:]), "catalogue is damaged"),
        (iso(catalogue(entry(SECTORS, 4))), "cut off: what it boots lies at byte 81,920"),
        (iso(catalogue(entry(SECTORS - 1, 5))), "cut off: what it boots lies at"),
    ],
)
def test_isos_that_are_refused(data: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(data)


def test_grub_is_told_from_other_programs() -> None:
    cdboot = b"\xe8\0\0".ljust(0x100, b"\0") + b"cdrom read fails"
    core = bytes(range(32))
    program = cdboot.ljust(SECTOR, b"\0") + b"loading\0".ljust(512, b"\0") + core
    assert grub_code(program) == (program[:16].hex(), core[:16].hex())
    assert grub_code(b"isolinux".ljust(4096, b"\0")) is None
