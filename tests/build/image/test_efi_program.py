"""EFI programs: sections, entries and kinds of PE files; a UKI that objcopy makes is read back."""

from pathlib import Path

import pytest

from bootlab.build.image.efi_program import make_uki, parse_efi_program
from bootlab.errors import InputError
from tests.build.image.small_images import CODE, efi_program, kernel

STUB = b"#### LoaderInfo: systemd-stub 252.39-1~deb12u2 ####"
BOOT = b"#### LoaderInfo: systemd-boot 257.8-1 ####"


def test_sections_and_entry() -> None:
    program = parse_efi_program(efi_program({".cmdline": b"root=/dev/vda1\0"}))
    assert program.arch == "x86_64" and program.entry == 0x1010 and program.code == CODE[16:32]
    assert program.sections[".cmdline"].content == b"root=/dev/vda1\0"
    assert parse_efi_program(efi_program(machine=0xAA64)).arch == "aarch64"


@pytest.mark.parametrize(
    ("data", "kind", "version"),
    [
        (efi_program(text=BOOT), "systemd-boot", "257.8-1"),
        (efi_program(text=STUB), "systemd-stub", "252.39-1~deb12u2"),
        (efi_program({".linux": kernel()}, text=STUB), "UKI", "252.39-1~deb12u2"),
        (efi_program({"mods": b"x"}), "GRUB", ""),
        (efi_program({".sbat": b"sbat,1\nshim,3,UEFI shim\n"}), "shim", ""),
        (efi_program(), "unknown", ""),
    ],
)
def test_kinds(data: bytes, kind: str, version: str) -> None:
    program = parse_efi_program(data)
    assert (program.kind, program.version) == (kind, version)


@pytest.mark.parametrize("data", [b"", b"MZ", b"\x7fELF" * 40, b"MZ".ljust(0x3C, b"\0") + b"\xff\xff\xff\x7f"])
def test_what_is_none(data: bytes) -> None:
    with pytest.raises(InputError, match="not an EFI program"):
        parse_efi_program(data)


def test_one_that_is_cut_off() -> None:
    with pytest.raises(InputError, match="cut off: its section .linux"):
        parse_efi_program(efi_program({".linux": bytes(9000)})[:-4096])


@pytest.mark.parametrize("base", [0, 0x14DF90000])
def test_a_uki_holds_what_was_put_into_it(base: int, tmp_path: Path) -> None:
    """The stub of systemd 252 is linked to 0, that of 257 far above."""
    stub = tmp_path / "stub"
    stub.write_bytes(efi_program(text=STUB, base=base))
    parts = {".cmdline": b"quiet", ".linux": kernel(), ".initrd": b"070701" * 100}
    for name, data in parts.items():
        (tmp_path / name).write_bytes(data)
    make_uki(stub, {name: tmp_path / name for name in parts}, tmp_path / "uki.efi")
    program = parse_efi_program((tmp_path / "uki.efi").read_bytes())
    assert program.kind == "UKI" and program.base == base and program.sections[".initrd"].address < 1 << 20
    assert {name: program.sections[name].content for name in parts} == parts
    addresses = [program.sections[name].address for name in (".text", *parts)]
    assert addresses == sorted(addresses) and all(address % 4096 == 0 for address in addresses)
