"""Collects the symbols of a guest's programs: their own, those of bootlab's builds, those that a user brings."""

import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from bootlab.build.root.initramfs import read_contents
from bootlab.errors import InputError
from bootlab.symbols.program import Program, belongs_to, read_program
from bootlab.system import System


def find_programs(
    system: System, archive: Path | None, given: Sequence[tuple[Path, bytes]], built: Mapping[str, Program]
) -> tuple[dict[str, Program], tuple[str, ...]]:
    """Return the symbols of the guest's programs by path in the guest, and warnings.

    `built`: the programs that were compiled for this system, by path in the guest. `given`: files of symbols that the
    user brings, and their content. Each must be of the same build as a program in the initramfs; what lies on disks
    cannot be looked at, is known by its file name alone, and warned of. Raises InputError for a file that is of none.
    """
    arch = system.machine.arch
    programs: dict[str, Program] = {}
    warnings = []
    inside = _executables(archive)
    for name, data in inside:
        program = read_program(data, name, [path for path, _ in given])
        if program is not None and program.stripped and name in built:
            program = built[name]
        if program is not None and program.arch == arch:
            programs[name] = program
    # On a disk that was made from a recipe; bootlab put them there itself.
    programs = {**built, **programs}
    on_disks = system.rootfs is not None or any(disk.path is not None for disk in system.disks)
    for path, data in given:
        program = _given_program(path, data, arch)
        if any(belongs_to(path, data, other) for _, other in inside):
            continue
        namesake = next((name for name, _ in inside if Path(name).name == path.name), None)
        if namesake is not None or not on_disks:
            raise InputError(
                f"{path}: symbols of another build than {namesake}"
                if namesake is not None
                else f"{path}: symbols of no program that this system's initramfs has",
                hint="--symbols takes the very program before it was stripped, or its debug file",
            )
        # Whatever is called so on a disk is believed to be it.
        programs[path.name] = program
        warnings.append(f"{path}: cannot be compared with what is on the disks; any {path.name} there gets its names")
    return programs, tuple(warnings)


def _given_program(path: Path, data: bytes, arch: str) -> Program:
    program = read_program(data, str(path))
    if program is None:
        raise InputError(
            f"{path}: not an ELF file for x86-64, arm64, riscv64 or 32-bit arm",
            hint="--symbols takes ELF files and System.map",
        )
    if program.arch != arch:
        raise InputError(f"{path}: symbols for {program.arch}, the machine is {arch}")
    # A separate debug file has its functions placed by the program that it belongs to.
    if not program.functions and program.stripped:
        raise InputError(f"{path}: has no symbols", hint="--symbols takes a program before it is stripped")
    return program


def _executables(archive: Path | None) -> Sequence[tuple[str, bytes]]:
    entries = read_contents(archive) if archive is not None else None
    # Modules bring their symbols along when the kernel loads them.
    return [
        (f"/{entry.path}", entry.data)
        for entry in entries or ()
        if stat.S_ISREG(entry.mode) and entry.data[:4] == b"\x7fELF" and ".ko" not in entry.path
    ]
