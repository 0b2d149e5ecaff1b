"""EFI programs (PE files): their sections, where their code begins, and which loader one is; a UKI put together.

A unified kernel image is systemd's stub with a kernel, an initramfs and a command line as further sections.
"""

import platform
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.formats.first_sector import CODE_BYTES
from bootlab.errors import InputError
from bootlab.process import run

MACHINES = {0x8664: "x86_64", 0xAA64: "aarch64", 0x14C: "i386", 0x5064: "riscv64", 0x1C2: "arm"}

_SECTION_ALIGNMENT = 0x1000
_DEADLINE_S = 120.0
_SYSTEMD = re.compile(rb"#### LoaderInfo: (systemd-boot|systemd-stub) ([\w.~+-]+)")


@dataclass(frozen=True, slots=True)
class Section:
    """A section of an EFI program: where it lies in memory, and what the file has of it."""

    name: str
    address: int
    size: int
    """In memory."""
    content: bytes


@dataclass(frozen=True, slots=True)
class EfiProgram:
    """`entry`: where its first instruction is, from where it is loaded to; `code`: the first bytes there."""

    arch: str
    entry: int
    code: bytes
    sections: Mapping[str, Section]
    base: int
    """The address that it would be loaded to by itself; UEFI puts it anywhere."""
    size: int
    """What it takes of memory."""
    kind: str
    """`systemd-boot`, `UKI`, `systemd-stub`, `GRUB`, `shim`, `Linux` or `unknown`."""
    version: str = ""


def parse_efi_program(data: bytes) -> EfiProgram:
    """Return what a PE file says of itself. Raises InputError for anything else, and for one that is cut off."""
    try:
        return _parse(data)
    except (struct.error, IndexError) as error:
        raise InputError("not an EFI program, or one that is cut off") from error


def _parse(data: bytes) -> EfiProgram:
    if data[:2] != b"MZ":
        raise InputError("not an EFI program: no MZ at its start")
    (at,) = struct.unpack_from("<I", data, 0x3C)
    if data[at : at + 4] != b"PE\0\0":
        raise InputError("not an EFI program: no PE header")
    machine, count = struct.unpack_from("<HH", data, at + 4)
    (optional,) = struct.unpack_from("<H", data, at + 20)
    (entry,) = struct.unpack_from("<I", data, at + 40)
    # Of 64-bit programs, a word of eight bytes; of 32-bit ones one of four, behind another that these do not have.
    wide = data[at + 24 : at + 26] == b"\x0b\x02"
    (base,) = struct.unpack_from("<Q" if wide else "<I", data, at + (48 if wide else 52))
    room = len(data)
    sections: dict[str, Section] = {}
    for index in range(count):
        place = at + 24 + optional + 40 * index
        name = data[place : place + 8].rstrip(b"\0").decode("ascii", errors="replace")
        size, address, raw_size, raw_at = struct.unpack_from("<IIII", data, place + 8)
        if raw_at + min(raw_size, size) > len(data):
            raise InputError(f"an EFI program that is cut off: its section {name} is not all there")
        # Sections lie one behind the other; as many as one likes, each all of the file, would fill memory.
        room -= min(raw_size, size) if size else raw_size
        if room < 0:
            raise InputError("an EFI program that is damaged: its sections are larger than it is")
        content = data[raw_at : raw_at + (min(raw_size, size) if size else raw_size)]
        sections.setdefault(name, Section(name, address, size or raw_size, content))
    kind, version = _kind(data, sections)
    arch, code = MACHINES.get(machine, f"{machine:#x}"), _code_at(data, sections, entry)
    size = max((one.address + one.size for one in sections.values()), default=len(data))
    return EfiProgram(arch, entry, code, sections, base, size, kind, version)


def _code_at(data: bytes, sections: Mapping[str, Section], entry: int) -> bytes:
    for one in sections.values():
        if one.address <= entry < one.address + len(one.content):
            return one.content[entry - one.address :][:CODE_BYTES]
    return data[entry : entry + CODE_BYTES]


def _kind(data: bytes, sections: Mapping[str, Section]) -> tuple[str, str]:
    told = _SYSTEMD.search(data)
    version = told[2].decode() if told else ""
    if ".linux" in sections:
        return "UKI", version
    if told:
        return told[1].decode(), version
    if data[0x202:0x206] == b"HdrS" or data[0x38:0x3C] in (b"ARM\x64", b"RSC\x05"):
        return "Linux", ""
    sbat = sections[".sbat"].content if ".sbat" in sections else b""
    if "mods" in sections or b"\ngrub," in sbat:
        return "GRUB", ""
    if b"\nshim," in sbat or b"S\0h\0i\0m\0" in data[:65536] or b"\0shim\0" in data:
        return "shim", ""
    return "unknown", ""


def make_uki(stub: Path, parts: Mapping[str, Path], out: Path) -> None:
    """Write the UKI of systemd's `stub` and `parts`: section name -> file. Raises MissingTool (binutils)."""
    program = parse_efi_program(stub.read_bytes())
    # objcopy counts from 0, and not from where the program is loaded to.
    end = program.base + program.size
    foreign = program.arch == "aarch64" and platform.machine() != "aarch64"
    objcopy = "aarch64-linux-gnu-objcopy" if foreign else "objcopy"
    argv: list[str | Path] = [objcopy]
    for name, path in parts.items():
        end = -(-end // _SECTION_ALIGNMENT) * _SECTION_ALIGNMENT
        argv += ["--add-section", f"{name}={path}", "--change-section-vma", f"{name}={end:#x}"]
        end += path.stat().st_size
    run([*argv, stub, out], deadline_s=_DEADLINE_S, package="binutils-aarch64-linux-gnu" if foreign else "binutils")
