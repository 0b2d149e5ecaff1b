"""The compiler of a program for the guest, and the scratch folder in which the program's own make calls it.

The compiler is called `cc` and put first on PATH: the choices of the recipe (architecture, ARM or Thumb-2, static) are
in it, so no package need know how to pass them on. Paths of this host do not reach the program: its build runs in a
scratch folder, by relative names. ccache keeps the objects, so a program linked otherwise compiles nothing again.
"""

import os
import re
import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.cache import Cache, file_sha256
from bootlab.build.debian.packages import ARCHITECTURES
from bootlab.build.programs import guest
from bootlab.build.source.toolchain import require_toolchain
from bootlab.errors import BootlabError, InputError, MissingTool
from bootlab.process import ProgramFailed, require_program, run, stream
from bootlab.system import Instructions, Libc

_SHOWN = 15
_TRIPLETS = {
    "x86_64": "x86_64-linux-gnu",
    "aarch64": "aarch64-linux-gnu",
    "armv7": "arm-linux-gnueabihf",
    "riscv64": "riscv64-linux-gnu",
}
_ARCH_WORDS = {
    "x86_64": ("x86_64",),
    "aarch64": ("aarch64",),
    "armv7": ("arm", "armv7", "armv7l", "armv7a"),
    "riscv64": ("riscv64",),
}
"""How the name of a compiler's target may begin (gcc -dumpmachine)."""
UCLIBC_FROM = (
    "no Debian package has uClibc: name a cross compiler of it, which Buildroot makes as "
    "output/host/bin/*-linux-uclibc*-gcc (BR2_TOOLCHAIN_BUILDROOT_UCLIBC=y, make toolchain)"
)
"""Where a compiler that links with uClibc is to be had."""
_ASKED_S = 60.0
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
class CrossCompiler:
    """A compiler of programs for the guest, with the choices of a recipe."""

    program: str
    """What says where its libraries are."""
    triplet: str
    """Of the tools that go with it: `arm-linux-gnueabihf`."""
    words: tuple[str, ...]
    """What calls it."""
    choices: tuple[str, ...]
    """Those of its words that name no place on this host."""
    identity: str
    """What tells it from others."""
    is_zig: bool = False

    @property
    def prefix(self) -> str:
        return f"{self.triplet}-"


def find_compiler(
    libc: Libc, instructions: Instructions | None, arch: str, *, named: Path | None = None, key: str = ""
) -> CrossCompiler:
    """Return the compiler of `arch` that links with `libc`.

    `instructions`: None leaves them to the compiler. `named`: the user's own compiler, of uClibc; `key` is what the
    system file calls the program. Raises MissingTool, which says what to install; InputError for a compiler of the
    user's that is none for this.
    """
    triplet = _TRIPLETS[arch]
    # strip and ar are the cross binutils' whatever compiles.
    missing = [f"{triplet}-{tool}" for tool in ("ar", "nm", "strip") if shutil.which(f"{triplet}-{tool}") is None]
    if missing:
        raise MissingTool(
            f"to build a program for {arch}, this machine lacks {', '.join(missing)}",
            hint=f"apt-get install binutils-{triplet.replace('_', '-')}",
        )
    mode = (_MODES[instructions],) if arch == "armv7" and instructions is not None else ()
    if libc is Libc.MUSL:
        zig, identity = guest.require_compiler(arch, _ZIG_CPUS.get(arch))
        if "ziglang" not in zig:
            raise MissingTool("musl programs are compiled by zig", hint="pip install ziglang (make setup does)")
        # Without -g zig strips what it optimises for size, and the program has no symbols to keep.
        words = (*zig, *mode, "-g", "-Wno-unused-command-line-argument")
        # They begin with a path of this host, and the identity says which zig it is.
        return CrossCompiler(f"{triplet}-gcc", triplet, words, words[4:], identity, is_zig=True)
    ccache = ("ccache",) if shutil.which("ccache") else ()
    choices = (*_GCC_CPUS.get(arch, ()), *mode)
    if libc is Libc.UCLIBC:
        assert named is not None  # the system's own check
        program, identity = _uclibc_compiler(named, arch, f"{key}.uclibc_compiler")
        return CrossCompiler(program, triplet, (*ccache, program, *choices), choices, identity)
    found = require_program(f"{triplet}-gcc", package=require_toolchain(arch).package)
    if not Path(run([found, "-print-file-name=crt1.o"]).text.strip()).is_absolute():
        raise MissingTool(
            f"to link a program for {arch}, this machine lacks its C library",
            hint=f"apt-get install libc6-dev-{ARCHITECTURES[arch]}-cross",
        )
    version = run([found, "--version"]).text.splitlines()[0]
    words = (*ccache, f"{triplet}-gcc", *choices)
    return CrossCompiler(f"{triplet}-gcc", triplet, words, words, version)


def _uclibc_compiler(named: Path, arch: str, key: str) -> tuple[str, str]:
    """Return the path of a compiler of the user's, and what tells it and its C library from others."""
    # By the name that was given: Buildroot's are links to one wrapper, which goes by what it is called.
    program = str(named.absolute())
    try:
        triplet = run([program, "-dumpmachine"], deadline_s=_ASKED_S).text.strip()
        version = run([program, "--version"], deadline_s=_ASKED_S).text.splitlines()[0]
        macros = run([program, "-E", "-dM", "-include", "features.h", "-x", "c", os.devnull], deadline_s=_ASKED_S).text
        library = Path(run([program, "-print-file-name=libc.a"], deadline_s=_ASKED_S).text.strip())
    except (ProgramFailed, MissingTool, IndexError) as error:
        raise InputError(f"{key}: {named}: is no C compiler that works: {error}", hint=UCLIBC_FROM) from error
    if triplet.partition("-")[0] not in _ARCH_WORDS[arch]:
        raise InputError(f"{key}: {named}: compiles for {triplet}, and the machine is {arch}", hint=UCLIBC_FROM)
    if not re.search(r"^#define __UCLIBC__ ", macros, re.MULTILINE):
        raise InputError(f"{key}: {named}: its C library is not uClibc (it defines no __UCLIBC__)", hint=UCLIBC_FROM)
    if not library.is_absolute() or not library.is_file():
        raise InputError(f"{key}: {named}: has no libc.a to link a static program with", hint=UCLIBC_FROM)
    return program, f"{triplet}; {version}; libc.a {file_sha256(library)}"


@dataclass(frozen=True, slots=True)
class CrossBuild:
    """One build of a program: its source at `source` and its objects at `objects`, both in a scratch folder."""

    cache: Cache
    scratch: Path
    compiler: CrossCompiler
    name: str
    """Of the Debian source package."""
    key: str
    """What the system file calls the program, for messages."""

    @property
    def objects(self) -> Path:
        """Return the folder that commands run in."""
        return self.scratch / "objects"

    def begin(self, source: Path, *, static: bool) -> None:
        """Make the scratch folder's parts, and the compiler; with `static` it links so."""
        (self.scratch / "source").symlink_to(source)
        self.objects.mkdir()
        self._write_compiler(self.scratch / "bin", static=static)

    def _write_compiler(self, folder: Path, *, static: bool) -> None:
        folder.mkdir()
        words = shlex.join(self.compiler.words)
        link = f"{words} -static" if static else words
        spelled = _SPELLED_FOR_ZIG if self.compiler.is_zig else ""
        script = f'#!/bin/sh\n{spelled}for word; do [ "$word" = -c ] && exec {words} "$@"; done\nexec {link} "$@"\n'
        path = folder / "cc"
        path.write_text(script, encoding="utf-8")
        path.chmod(0o755)

    def run(self, argv: Sequence[str], deadline_s: float, on_line: Callable[[str], None]) -> None:
        """Run a command of the program's build. Raises ProgramBuildFailed with its last lines and the whole log."""
        log = self.scratch / "log"
        environment = {
            "PATH": os.pathsep.join([str(self.scratch / "bin"), os.environ.get("PATH", os.defpath)]),
            "CC": "cc",
            **guest.zig_folders(self.cache),
            "CCACHE_DIR": str(self.cache.root / "ccache"),
            "CCACHE_NOHASHDIR": "1",
            # The scratch folder is named by the recipe, and what is linked otherwise is compiled the same.
            "CCACHE_BASEDIR": str(self.scratch),
            "SOURCE_DATE_EPOCH": "0",
        }
        # Whatever this shell has of these would end up in the program.
        unset = [word for name in ("CFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS") for word in ("-u", name)]
        command: list[str | Path] = ["env", "-C", self.objects, *unset, *argv]
        try:
            stream(command, on_line, log=log, env=environment, deadline_s=deadline_s)
        except ProgramFailed as error:
            if "No space left on device" in error.stderr:
                raise
            (self.cache.root / "source-program").mkdir(exist_ok=True)
            kept = self.cache.root / "source-program" / f"{self.name}-failed.log"
            # What configure tried and how it failed is in a log of its own.
            own = sorted(self.objects.rglob("config.log"))
            kept.write_bytes(b"".join(path.read_bytes() for path in (*own, log)))
            last = "\n  ".join(error.stderr.splitlines()[-_SHOWN:])
            what = Path(argv[0]).name
            raise ProgramBuildFailed(
                f"{self.key}: {what} of {self.name} failed\n  {last}\n  the whole log: {kept}"
            ) from error
