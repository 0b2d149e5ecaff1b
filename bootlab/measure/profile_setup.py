"""What a profiled boot is told beyond a plain one, and the files it leaves: profile.bin and what is needed to read it.

A kernel is decoded once and then comes from the cache. What a run refers to is written beside its profile, so that a
finished run can be read for ever, whatever becomes of the cache.
"""

import json
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bootlab.build.cache import Cache, file_sha256
from bootlab.build.initramfs import contents
from bootlab.build.kernel_image import inspect
from bootlab.errors import InputError, StoreError
from bootlab.profile.profile_config import (
    DEFAULT_SPAN_NS,
    VERSION,
    KernelFacts,
    ProfileConfig,
    make_profile_config,
    read_kernel_facts,
)
from bootlab.symbols.decompressor import list_decompressor_functions
from bootlab.symbols.functions import Function
from bootlab.symbols.program import Program, read_program
from bootlab.symbols.table import SymbolTable
from bootlab.system import BootFiles, KernelEntry, System

PROFILE: Final = "profile.bin"
ABOUT: Final = "profile.json"
_NO_SYMBOLS = "kernel.symbols in the system file, or --symbols FILE: its unstripped vmlinux or its System.map"


@dataclass(frozen=True, slots=True)
class ProfileRequest:
    """What a user asks of a profile.

    `span_ns`: the shortest call that is recorded one by one. `programs`: ELF files with symbols, or debug files, of
    programs that the system's own files carry without.
    """

    span_ns: int = DEFAULT_SPAN_NS
    programs: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class ProfileSetup:
    """The profile's part of a boot: files beside the plugin's config, lines in it, and what a reader must know."""

    config: ProfileConfig
    lines: tuple[str, ...]
    about: "AboutProfile"


@dataclass(frozen=True, slots=True)
class AboutProfile:
    """What a profile does not say itself. Kept beside it."""

    initcall_levels: Mapping[int, str]
    """Link address of an initcall's function -> level."""
    missing: tuple[str, ...]
    """What this kernel does not tell, and what follows from that, in words for a user."""
    payload: str | None
    """How the kernel is compressed in the image that boots; None when nothing unpacks it."""

    def as_json(self) -> dict[str, Any]:
        """Return what `read_about` reads."""
        return {
            "initcall_levels": {f"{address:x}": level for address, level in self.initcall_levels.items()},
            "missing": list(self.missing),
            "payload": self.payload,
        }


def set_up_profile(
    system: System, files: BootFiles, symbols: SymbolTable | None, cache: Cache, request: ProfileRequest
) -> ProfileSetup:
    """Return what a profiled boot of `system` needs. Raises InputError for a kernel whose symbols cannot be had."""
    if symbols is None:
        raise InputError(f"{files.kernel}: no symbols of this kernel: a profile would name nothing", hint=_NO_SYMBOLS)
    facts = _kernel_facts(symbols, system.kernel.symbols, cache)
    given = [(path, _read(path)) for path in request.programs]
    built = [(files.decompressor, _read(files.decompressor))] if files.decompressor is not None else []
    # A user's own file goes before that of the build.
    decompressor = _decompressor(system, files.kernel, [*given, *built])
    programs = _programs(files.initramfs, system.machine.arch, [path for path, _ in given])
    for path, data in given:
        if decompressor is None or path != decompressor.path:
            programs[path.name] = _given_program(path, data, system.machine.arch)
    config = make_profile_config(
        facts,
        span_ns=request.span_ns,
        programs=programs,
        decompressor=decompressor.functions if decompressor is not None else (),
    )
    # Where a console pattern says ready, no mark ends a slice there: every line has to.
    lines = ("cutlines",) if system.booted.console is not None else ()
    payload = None if system.kernel.entry is KernelEntry.PVH else inspect(files.kernel).compression
    return ProfileSetup(config, lines, AboutProfile(facts.initcall_levels, facts.missing, payload))


def write_profile_config(setup: ProfileSetup, directory: Path) -> str:
    """Write the profile's files into a boot's directory and return the config lines. Raises OSError, InputError."""
    for name, text in setup.config.files.items():
        (directory / name).write_text(text, encoding="utf-8")
    (directory / ABOUT).write_text(json.dumps(setup.about.as_json()) + "\n", encoding="utf-8")
    return setup.config.text(directory.absolute()) + "".join(f"{line}\n" for line in setup.lines)


def read_about(directory: Path) -> AboutProfile:
    """Return what is kept beside the profile in a boot's directory. Raises StoreError."""
    path = directory / ABOUT
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return AboutProfile(
            initcall_levels={int(address, 16): str(level) for address, level in document["initcall_levels"].items()},
            missing=tuple(map(str, document["missing"])),
            payload=document["payload"],
        )
    except FileNotFoundError as error:
        raise StoreError(f"{directory}: not the boot of a profile: it has no {ABOUT}") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{path}: damaged: {error}") from error


def _kernel_facts(symbols: SymbolTable, given: Path | None, cache: Cache) -> KernelFacts:
    sources = [symbols.image] if given is None else [symbols.image, given]
    key = " ".join([str(VERSION), *(file_sha256(path) for path in sources)])

    def decode(out: Path) -> None:
        out.write_text(json.dumps(read_kernel_facts(symbols).as_json()), encoding="utf-8")

    return KernelFacts.from_json(json.loads(cache.make("kernel-facts", key, decode).read_text(encoding="utf-8")))


@dataclass(frozen=True, slots=True)
class _Decompressor:
    path: Path
    functions: Sequence[Function]


def _decompressor(system: System, kernel: Path, given: Sequence[tuple[Path, bytes]]) -> _Decompressor | None:
    if system.kernel.entry is KernelEntry.PVH or system.machine.arch != "x86_64":
        return None
    for path, data in given:
        functions = list_decompressor_functions(data, str(path), _read(kernel))
        if functions is not None:
            return _Decompressor(path, functions)
    return None


def _given_program(path: Path, data: bytes, arch: str) -> Program:
    program = read_program(data, str(path))
    if program is None:
        raise InputError(
            f"{path}: not an ELF file for a 64-bit machine", hint="--symbols takes ELF files and System.map"
        )
    if program.arch != arch:
        raise InputError(f"{path}: symbols for {program.arch}, the machine is {arch}")
    # A separate debug file has its functions placed by the program that it belongs to.
    if not program.functions and program.stripped:
        raise InputError(f"{path}: has no symbols", hint="--symbols takes a program before it is stripped")
    return program


def _programs(archive: Path | None, arch: str, given: Sequence[Path]) -> dict[str, Program]:
    programs = {}
    for name, data in _executables(archive):
        program = read_program(data, name, given)
        if program is not None and program.arch == arch:
            programs[name] = program
    return programs


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}, expected symbols") from error


def _executables(archive: Path | None) -> Sequence[tuple[str, bytes]]:
    entries = contents(archive) if archive is not None else None
    # Modules bring their symbols along when the kernel loads them.
    return [
        (f"/{entry.path}", entry.data)
        for entry in entries or ()
        if stat.S_ISREG(entry.mode) and entry.data[:4] == b"\x7fELF" and ".ko" not in entry.path
    ]
