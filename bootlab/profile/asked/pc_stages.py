"""What runs on a PC before the kernel of its disk -> lines of the plugin's config: each stage, and each UEFI driver.

Pure. UEFI puts its programs, and those of the disk, at whatever page is free: they are found by their first bytes and
the place of these in a page. What BIOS starts lies where it always has.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bootlab.symbols.firmware_volume import PAGE, FirmwareProgram, ProgramKind
from bootlab.timeline import marks as m

_BOOT_SECTOR_AT, _CORE_AT = 0x7C00, 0x8000
_SECTOR, _OLD_SETUP_SECTORS = 512, 4
_CODE = 16
_NAME_MAX = 64 - len(m.DRIVER_PREFIX)
# Of a bzImage's code, from where it is loaded to: the entries of 32-bit and of 64-bit loaders (Documentation/arch/x86/
# boot.rst), the latter also of the kernel's own EFI stub.
_KERNEL_ENTRIES = (0, 0x200)
_CORES = {ProgramKind.PEI_CORE: m.PEI_ENTRY, ProgramKind.DXE_CORE: m.DXE_ENTRY}
_SERVICES = {"ConnectController": m.BDS_ENTRY, "ExitBootServices": m.EXIT_BOOT_SERVICES}
_DRIVERS = (ProgramKind.PEI_DRIVER, ProgramKind.DXE_DRIVER, ProgramKind.COMBINED, ProgramKind.APPLICATION)


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """Where a program begins, from where it is loaded to, and its first bytes there.

    `name`, `size`: what it is, and how much of memory is its own.
    """

    at: int
    code: bytes
    name: str
    size: int


def bios_lines(boot_code: bytes, core_code: bytes, kernel: bytes, core_at: int = _CORE_AT) -> list[str]:
    """Return the lines for a disk that BIOS boots: its first sector, GRUB's core.img (if any), and its kernel.

    Of a CD the first is what its boot catalogue names.
    """
    lines = [f"image {m.BOOT_SECTOR} {_BOOT_SECTOR_AT:x} {boot_code[:_CODE].hex()}"] if boot_code else []
    if core_code:
        lines.append(f"image {m.LOADER_ENTRY} {core_at:x} {core_code[:_CODE].hex()}")
    return [*lines, *_kernel_lines(kernel)]


def uefi_lines(
    firmware: Sequence[FirmwareProgram], loaders: Sequence[EntryPoint], kernel: bytes, stub: EntryPoint | None
) -> list[str]:
    """Return the lines for a disk that UEFI boots.

    `loaders`: the programs of the chain, in their order; `stub`: the kernel as one of them.
    """
    lines = list(_firmware_lines(firmware))
    for mark, entry in zip((m.LOADER_ENTRY, m.SECOND_LOADER_ENTRY), loaders, strict=False):
        lines.append(_moved(mark, entry.at, entry.code))
    if stub is not None:
        lines.append(_moved(m.EFI_STUB_ENTRY, stub.at, stub.code))
    return [*lines, *_kernel_lines(kernel)]


def rom_lines(entries: Sequence[tuple[int, bytes]]) -> list[str]:
    """Return the lines for a network card's ROM: where firmware may enter it, and the first bytes there."""
    return [_moved(f"{m.DRIVER_PREFIX}{m.OPTION_ROM}", at, code) for at, code in entries]


def program_lines(firmware: Sequence[FirmwareProgram], started: Sequence[EntryPoint]) -> list[str]:
    """Return a profile's lines: which memory is whose, of the firmware's programs and of those that it starts."""
    lines = [
        f"program {_printable(one.name)} {one.before} {one.size} {place:x} {one.code.hex()}"
        for one in firmware if one.size for place in one.places
    ]  # fmt: skip
    lines += [
        f"loader {_printable(one.name)} {one.at} {one.size} {one.at % PAGE:x} {one.code[:_CODE].hex()}"
        for one in started
    ]
    return list(dict.fromkeys(lines))


def _firmware_lines(firmware: Sequence[FirmwareProgram]) -> Iterator[str]:
    seen = set[tuple[str, int, bytes]]()
    for program in firmware:
        mark = _CORES.get(program.kind)
        if program.kind is ProgramKind.SERVICE:
            mark = _SERVICES.get(program.name)
        elif program.kind in _DRIVERS:
            mark = f"{m.DRIVER_PREFIX}{_printable(program.name)}"
        for place in program.places if mark is not None else ():
            if (program.name, place, program.code) not in seen:
                seen.add((program.name, place, program.code))
                yield _moved(str(mark), place, program.code)


def _kernel_lines(kernel: bytes) -> list[str]:
    start = ((kernel[0x1F1] or _OLD_SETUP_SECTORS) + 1) * _SECTOR if len(kernel) > _SECTOR else 0
    if kernel[0x202:0x206] != b"HdrS":
        return []
    return [_moved(m.IMAGE_ENTRY, at, kernel[start + at :][:_CODE]) for at in _KERNEL_ENTRIES]


def _moved(mark: str, at: int, code: bytes) -> str:
    return f"moved {mark} {at % PAGE:x} {code[:_CODE].hex()}"


def _printable(name: str) -> str:
    return "".join(letter if "!" <= letter <= "~" else "_" for letter in name)[:_NAME_MAX]
