"""What a profiled boot is told beyond a plain one, and the files it leaves: profile.bin and what is needed to read it.

A kernel is decoded once and then comes from the cache. What a run refers to is written beside its profile, so that a
finished run can be read for ever, whatever becomes of the cache.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.cache import Cache, file_sha256
from bootlab.build.formats.ext4_places import is_ext4, read_places
from bootlab.build.kernel.image import inspect
from bootlab.build.programs.symbols import read_program_symbols
from bootlab.errors import InputError, MissingTool
from bootlab.process import ProgramFailed
from bootlab.profile.asked.marks import call_lines
from bootlab.profile.asked.profiling import (
    DECOMPRESSOR,
    OPENSBI,
    SPL,
    UBOOT,
    VERSION,
    KernelFacts,
    ProfileConfig,
    make_profile_config,
    read_kernel_facts,
)
from bootlab.profile.asked.request import MOST_VCPUS, ProfileRequest
from bootlab.profile.recorded.about import ABOUT, AboutProfile
from bootlab.profile.recorded.disk_files import DISK_FILES, FilePiece, write_disk_files
from bootlab.symbols.decompressor import list_decompressor_functions
from bootlab.symbols.firmware import Firmware, functions_of_image
from bootlab.symbols.functions import Function
from bootlab.symbols.table import SymbolTable
from bootlab.system import BootFiles, KernelEntry, System
from bootlab.targets.qemu.guest_programs import find_programs
from bootlab.targets.qemu.image_stages import image_program_lines

_NO_SYMBOLS = "kernel.symbols in the system file, or --symbols FILE: its unstripped vmlinux or its System.map"


@dataclass(frozen=True, slots=True)
class ProfileSetup:
    """The profile's part of a boot: files beside the plugin's config, lines in it, and what a reader must know."""

    config: ProfileConfig
    lines: tuple[str, ...]
    about: AboutProfile
    disk_files: str = ""
    """Which file lies where on modelled disks, as it is kept beside the profile; empty where there is none."""


def set_up_profile(
    system: System, files: BootFiles, symbols: SymbolTable | None, cache: Cache, request: ProfileRequest
) -> ProfileSetup:
    """Return what a profiled boot of `system` needs. Raises InputError for a kernel whose symbols cannot be had."""
    if system.machine.vcpus > MOST_VCPUS:
        raise InputError(
            f"machine.vcpus: {system.machine.vcpus}, and a profile takes at most {MOST_VCPUS}",
            hint="bootlab boot and measure take more",
        )
    if system.restores:
        raise InputError(
            "restorer: a profile names the functions of one kernel, and this power-on has two, one after the other",
            hint='power_on.kind = "cold" has one; bootlab boot has the marks of both',
        )
    if symbols is None:
        raise InputError(f"{files.kernel}: no symbols of this kernel: a profile would name nothing", hint=_NO_SYMBOLS)
    facts = _kernel_facts(symbols, system.kernel.symbols, files.types, cache)
    given = [(path, _read(path)) for path in request.programs]
    built = [(files.decompressor, _read(files.decompressor))] if files.decompressor is not None else []
    # A user's own file goes before that of the build.
    decompressor = _decompressor(system, files.kernel, [*given, *built])
    programs, unseen = find_programs(
        system,
        files.initramfs or files.embedded,
        [one for one in given if decompressor is None or one[0] != decompressor.path],
        read_program_symbols(system, cache),
    )
    spl, uboot = (None if path is None else Firmware(path) for path in (files.spl, files.uboot))
    stages = {
        SPL: spl.functions if spl else (),
        OPENSBI: _opensbi_functions(system, files),
        UBOOT: uboot.functions if uboot else (),
    }
    config = make_profile_config(
        facts,
        span_ns=request.span_ns,
        programs=programs,
        stages=stages | {DECOMPRESSOR: decompressor.functions if decompressor is not None else ()},
        relocate=_relocation(uboot) if uboot is not None else None,
        paths=request.paths,
    )
    # Where a console pattern says ready, no mark ends a slice there: every line has to.
    lines = ("cutlines",) if system.booted.console is not None else ()
    if system.image is not None:
        lines = (*lines, *image_program_lines(files))
    called, call_config = call_lines(symbols, request.calls)
    lines = (*lines, *call_config)
    if request.traps:
        # The architecture is one whose traps are known: whoever asks has seen to it.
        lines = (*lines, "traps")
    payload = None if system.kernel.entry is KernelEntry.PVH else inspect(files.kernel).compression
    disk_files, unread = list_disk_files(system, files)
    about = AboutProfile(facts.initcall_levels, facts.missing + unseen + unread, payload, called)
    return ProfileSetup(config, lines, about, disk_files)


def write_profile_config(setup: ProfileSetup, directory: Path) -> str:
    """Write the profile's files into a boot's directory and return the config lines. Raises OSError, InputError."""
    for name, text in setup.config.files.items():
        (directory / name).write_text(text, encoding="utf-8")
    (directory / ABOUT).write_text(json.dumps(setup.about.as_json()) + "\n", encoding="utf-8")
    if setup.disk_files:
        (directory / DISK_FILES).write_text(setup.disk_files, encoding="utf-8", errors="surrogateescape")
    return setup.config.text(directory.absolute()) + "".join(f"{line}\n" for line in setup.lines)


def list_disk_files(system: System, files: BootFiles) -> tuple[str, tuple[str, ...]]:
    """Return which file lies where on modelled disks, and what of that cannot be had, in words."""
    names = [f"disk{index}" for index in range(len(system.disks))]
    drives = zip(["rootfs", *names] if system.rootfs is not None else names, files.disks, strict=True)
    pieces, unread = {}, []
    for drive, path in drives:
        if drive not in system.modelled_disks or not is_ext4(path):
            continue
        try:
            pieces[drive] = [FilePiece(place.sector, place.sectors, place.path) for place in read_places(path)]
        except (MissingTool, ProgramFailed) as error:
            # A profile is worth having without it.
            unread.append(f"which files {drive} was asked for is not known: {error.message}")
    return write_disk_files(pieces) if pieces else "", tuple(unread)


def _kernel_facts(symbols: SymbolTable, given: Path | None, types: Path | None, cache: Cache) -> KernelFacts:
    sources = [path for path in (symbols.image, given, types) if path is not None]
    key = " ".join([str(VERSION), *(file_sha256(path) for path in sources)])

    def decode(out: Path) -> None:
        out.write_text(json.dumps(read_kernel_facts(symbols, types).as_json()), encoding="utf-8")

    return KernelFacts.from_json(json.loads(cache.make("kernel-facts", key, decode).read_text(encoding="utf-8")))


def _opensbi_functions(system: System, files: BootFiles) -> Sequence[Function]:
    # Debian's OpenSBI has no symbols; a build of one's own leaves an ELF file beside its fw_dynamic.bin.
    given = system.bootloader.opensbi if system.bootloader is not None else None
    if files.opensbi is None or given is None:
        return ()
    return functions_of_image(given.with_suffix(".elf"), files.opensbi.read_bytes(), files.opensbi_at)


def _relocation(uboot: Firmware) -> tuple[int, int] | None:
    # The function with which U-Boot moves itself to the end of memory, and where it is linked to.
    moves = uboot.address("relocate_code")
    start = next((at for name in ("__image_copy_start", "_start") if (at := uboot.address(name)) is not None), None)
    return None if moves is None or start is None else (moves, start)


@dataclass(frozen=True, slots=True)
class _Decompressor:
    path: Path
    functions: Sequence[Function]


def _decompressor(system: System, kernel: Path, given: Sequence[tuple[Path, bytes]]) -> _Decompressor | None:
    if system.kernel.entry is KernelEntry.PVH:
        return None
    for path, data in given:
        functions = list_decompressor_functions(data, str(path), _read(kernel), system.kernel_places)
        if functions is not None:
            return _Decompressor(path, functions)
    return None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}, expected symbols") from error
