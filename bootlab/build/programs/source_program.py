"""A program for the guest, cross-built from a Debian source package with the configure line of its recipe.

The compiler is called `cc` and put first on PATH: the choices of the recipe (architecture, ARM or Thumb-2, static) are
in it, so no package need know how to pass them on. Paths of this host do not reach the program: configure and make run
in a scratch folder, by relative names. ccache keeps the objects, so a program linked otherwise compiles nothing again.
"""

import json
import os
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.segments import InterpSegment

from bootlab.build.debian.packages import ARCHITECTURES
from bootlab.build.debian.source_package import SourcePackage, fetch_source
from bootlab.build.programs import guest
from bootlab.build.source.toolchain import require_toolchain
from bootlab.build.workshop import Workshop
from bootlab.errors import BootlabError, InputError, MissingTool
from bootlab.process import ProgramFailed, require_program, run, stream
from bootlab.system import Content, Instructions, Libc, SourceProgram

ContentT = TypeVar("ContentT", bound=Content)

_FORMAT = 2
_STRIPPED, _WHOLE = "stripped", "whole"
"""Names in an entry."""
_CONFIGURE_DEADLINE_S = 1200.0
_MAKE_DEADLINE_S = 2 * 3600.0
_SHOWN = 15
_TOLD_EVERY = 100
_TRIPLETS = {
    "x86_64": "x86_64-linux-gnu",
    "aarch64": "aarch64-linux-gnu",
    "armv7": "arm-linux-gnueabihf",
    "riscv64": "riscv64-linux-gnu",
}
_ZIG_CPUS = {"armv7": "cortex_a7"}
_GCC_CPUS = {"armv7": ("-march=armv7-a+neon-vfpv4", "-mfloat-abi=hard")}
_MODES = {Instructions.ARM: "-marm", Instructions.THUMB2: "-mthumb"}


_SPELLED_FOR_ZIG = """for word; do
\tshift
\tcase $word in -mcpu=*)
\t\tcpu=${word#-mcpu=}
\t\twhile [ "$cpu" != "${cpu#*-}" ]; do cpu=${cpu%%-*}_${cpu#*-}; done
\t\tword=-mcpu=$cpu ;;
\tesac
\tset -- "$@" "$word"
done
"""
"""cortex-a7 is cortex_a7 for zig, which takes what follows a hyphen for a feature to leave out."""


class ProgramBuildFailed(BootlabError):
    """configure or make of a program ended with an error; the message has the last lines."""


@dataclass(frozen=True, slots=True)
class BuiltProgram:
    """A program in the cache, and the shared libraries that it needs. Shared: never to be changed."""

    path: Path
    """Stripped."""
    symbols: Path
    """The same, not stripped."""
    libraries: Mapping[str, Path]
    """Path in the guest -> file on this host."""
    version: str
    """Of the Debian package."""


def with_source_programs(shop: Workshop, content: ContentT, part: str, arch: str) -> ContentT:
    """Return the recipe with every program that it builds from a source package among its files.

    Raises as `build_program`.
    """
    files = dict(content.files)
    for name, program in content.programs.items():
        built = build_program(shop, program, arch, key=f'{part}.programs."{name}"')
        files |= {**built.libraries, name: built.path}
    return content.model_copy(update={"files": files, "programs": {}})


def build_program(shop: Workshop, program: SourceProgram, arch: str, *, key: str) -> BuiltProgram:
    """Return the program that `program` describes for `arch`, from the cache when it was built before.

    `key` is what the system file calls it. Raises InputError, MissingTool, ProgramBuildFailed with the last lines of
    configure or make, Unreachable (no network), StoreError.
    """
    source = fetch_source(shop, program.package, program.suite, key=f"{key}.package")
    for note in source.notes:
        shop.tell(note)
    if not (source.tree / "configure").is_file():
        raise InputError(f"{key}.package: {program.package} has no configure script, which is what is known here")
    compiler = _compiler(program, arch)
    job = _ProgramJob(shop, program, source, compiler, arch, key)
    entry = shop.cache.make("source-program", job.identity, job.build)
    path = entry / _STRIPPED
    libraries = {} if program.static else _libraries(path, compiler, key)
    return BuiltProgram(path, entry / _WHOLE, libraries, source.version)


@dataclass(frozen=True, slots=True)
class _Compiler:
    triplet: str
    words: tuple[str, ...]
    identity: str

    @property
    def prefix(self) -> str:
        return f"{self.triplet}-"


def _compiler(program: SourceProgram, arch: str) -> _Compiler:
    triplet = _TRIPLETS[arch]
    # strip and ar are the cross binutils' whatever compiles.
    missing = [f"{triplet}-{tool}" for tool in ("ar", "nm", "strip") if shutil.which(f"{triplet}-{tool}") is None]
    if missing:
        raise MissingTool(
            f"to build a program for {arch}, this machine lacks {', '.join(missing)}",
            hint=f"apt-get install binutils-{triplet.replace('_', '-')}",
        )
    mode = (_MODES[program.instructions],) if arch == "armv7" else ()
    if program.libc is Libc.MUSL:
        zig, identity = guest.require_compiler(arch, _ZIG_CPUS.get(arch))
        if "ziglang" not in zig:
            raise MissingTool("musl programs are compiled by zig", hint="pip install ziglang (make setup does)")
        # Without -g zig strips what it optimises for size, and the program has no symbols to keep.
        return _Compiler(triplet, (*zig, *mode, "-g", "-Wno-unused-command-line-argument"), identity)
    found = require_program(f"{triplet}-gcc", package=require_toolchain(arch).package)
    if not Path(run([found, "-print-file-name=crt1.o"]).text.strip()).is_absolute():
        raise MissingTool(
            f"to link a program for {arch}, this machine lacks its C library",
            hint=f"apt-get install libc6-dev-{ARCHITECTURES[arch]}-cross",
        )
    version = run([found, "--version"]).text.splitlines()[0]
    ccache = ("ccache",) if shutil.which("ccache") else ()
    return _Compiler(triplet, (*ccache, f"{triplet}-gcc", *_GCC_CPUS.get(arch, ()), *mode), version)


class _ProgramJob:
    def __init__(
        self, shop: Workshop, program: SourceProgram, source: SourcePackage, compiler: _Compiler, arch: str, key: str
    ) -> None:
        self._program = program
        self._source = source
        self._compiler = compiler
        self._cache = shop.cache
        self._key = key
        self._tell = shop.tell
        choices = [program.words, program.make, program.made, program.libc, program.static, program.instructions]
        # zig's words begin with a path of this host, and its identity says which zig it is.
        words = compiler.words if program.libc is Libc.GNU else compiler.words[4:]
        self.identity = json.dumps([_FORMAT, source.sha256, arch, compiler.identity, words, choices])

    def build(self, out: Path) -> None:
        scratch = out.parent
        (scratch / "source").symlink_to(self._source.tree)
        self._write_compiler(scratch / "bin")
        objects = scratch / "objects"
        objects.mkdir()
        name = f"{self._program.package} {self._source.version}"
        self._tell(f"configuring {name}")
        words = [word.replace("{prefix}", self._compiler.prefix) for word in self._program.words]
        self._run(scratch, ["../source/configure", *words], _CONFIGURE_DEADLINE_S, lambda line: None)
        self._tell(f"building {name}")
        done = 0

        def on_line(line: str) -> None:
            nonlocal done
            # Both of make's ways to say it: `CC\tfile.o`, and a compiler's command line.
            if line.startswith(("CC\t", "CC ")) or " -c " in line:
                done += 1
                if done % _TOLD_EVERY == 0:
                    self._tell(f"{self._program.package}: compiled {done} files")

        jobs = f"--jobs={len(os.sched_getaffinity(0))}"
        self._run(scratch, ["make", jobs, *self._program.make], _MAKE_DEADLINE_S, on_line)
        made = objects / self._program.made
        if not made.is_file():
            raise InputError(f"{self._key}.made: the build made no {self._program.made}")
        out.mkdir()
        run([f"{self._compiler.prefix}strip", "--remove-section=.comment", "-o", out / _STRIPPED, made])
        (out / _STRIPPED).chmod(0o755)
        # Debug information, which a package's own flags may ask for, is large and names nothing more.
        run([f"{self._compiler.prefix}strip", "--strip-debug", "-o", out / _WHOLE, made])

    def _write_compiler(self, folder: Path) -> None:
        folder.mkdir()
        words = shlex.join(self._compiler.words)
        link = f"{words} -static" if self._program.static else words
        spelled = _SPELLED_FOR_ZIG if self._program.libc is Libc.MUSL else ""
        script = f'#!/bin/sh\n{spelled}for word; do [ "$word" = -c ] && exec {words} "$@"; done\nexec {link} "$@"\n'
        path = folder / "cc"
        path.write_text(script, encoding="utf-8")
        path.chmod(0o755)

    def _run(self, scratch: Path, argv: Sequence[str], deadline_s: float, on_line: Callable[[str], None]) -> None:
        log = scratch / "log"
        environment = {
            "PATH": os.pathsep.join([str(scratch / "bin"), os.environ.get("PATH", os.defpath)]),
            "CC": "cc",
            **guest.zig_folders(self._cache),
            "CCACHE_DIR": str(self._cache.root / "ccache"),
            "CCACHE_NOHASHDIR": "1",
            # The scratch folder is named by the recipe, and what is linked otherwise is compiled the same.
            "CCACHE_BASEDIR": str(scratch),
            "SOURCE_DATE_EPOCH": "0",
        }
        # Whatever this shell has of these would end up in the program.
        unset = [word for name in ("CFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS") for word in ("-u", name)]
        command: list[str | Path] = ["env", "-C", scratch / "objects", *unset, *argv]
        try:
            stream(command, on_line, log=log, env=environment, deadline_s=deadline_s)
        except ProgramFailed as error:
            if "No space left on device" in error.stderr:
                raise
            kept = self._cache.root / "source-program" / f"{self._program.package}-failed.log"
            # What configure tried and how it failed is in a log of its own.
            own = sorted((scratch / "objects").rglob("config.log"))
            kept.write_bytes(b"".join(path.read_bytes() for path in (*own, log)))
            last = "\n  ".join(error.stderr.splitlines()[-_SHOWN:])
            what = Path(argv[0]).name
            raise ProgramBuildFailed(
                f"{self._key}: {what} of {self._program.package} failed\n  {last}\n  the whole log: {kept}"
            ) from error


def _libraries(program: Path, compiler: _Compiler, key: str) -> dict[str, Path]:
    # Path in the guest -> file, of the loader and of all libraries that a dynamic program comes to need.
    found: dict[str, Path] = {}
    wanted = [program]
    while wanted:
        with wanted.pop().open("rb") as file:
            elf = ELFFile(file)
            for segment in elf.iter_segments():
                if isinstance(segment, InterpSegment):
                    loader = segment.get_interp_name()
                    found.setdefault(loader, _library(compiler, Path(loader).name, key))
            dynamic = elf.get_section_by_name(".dynamic")
            tags = dynamic.iter_tags("DT_NEEDED") if isinstance(dynamic, DynamicSection) else ()
            names = [str(tag.needed) for tag in tags]  # type: ignore[attr-defined]
        for name in names:
            if f"/lib/{name}" not in found:
                found[f"/lib/{name}"] = _library(compiler, name, key)
                wanted.append(found[f"/lib/{name}"])
    return found


def _library(compiler: _Compiler, name: str, key: str) -> Path:
    # A compiler that does not find it gives the bare name back.
    path = Path(run([f"{compiler.prefix}gcc", f"-print-file-name={name}"]).text.strip())
    if not path.is_absolute() or not path.is_file():
        raise InputError(
            f"{key}: it is linked with {name}, which {compiler.prefix}gcc does not find",
            hint="leave the library out with a word for configure, or link it static",
        )
    return path
