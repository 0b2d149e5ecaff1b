"""bootlab's own guest programs, compiled static and without a C library for the architecture that is booted.

zig from the pinned ziglang wheel is taken where it is installed: it compiles for every architecture and makes the same
bytes on every host, so that an initramfs, and with it every exact figure, is the same too. A host compiler serves its
own architecture otherwise.
"""

import importlib.metadata
import platform
import shlex
import shutil
import sys
from pathlib import Path

from bootlab.build.cache import Cache, file_sha256
from bootlab.errors import BootlabError, MissingTool
from bootlab.process import find_program, run

_SOURCES = Path(__file__).resolve().parents[2] / "guest"
_DEADLINE_S = 180.0
MARK = "/sbin/bootlab-mark"
FACTS = "/sbin/bootlab-facts"


def programs(arch: str, cache: Cache) -> dict[str, Path]:
    """Return path in the guest -> file on the host, for every program that a recipe's initramfs always carries.

    `arch` is x86_64 or aarch64. Raises MissingTool when there is no compiler for it, ProgramFailed with the compiler's
    messages, BootlabError when bootlab's sources are not here.
    """
    return {MARK: _compiled("bootlab-mark", "mark.c", arch, cache), FACTS: _source("facts.sh")}


def assemble_flat(source: str, cache: Cache) -> Path:
    """Return the flat binary of an assembly source of this host's architecture, in guest/.

    Raises MissingTool without binutils, ProgramFailed with the assembler's messages.
    """
    text = _source(source)

    def build(path: Path) -> None:
        relocatable = path.with_suffix(".o")
        run(["as", "-o", relocatable, text], package="binutils")
        run(["objcopy", "-O", "binary", "-j", ".text", relocatable, path], package="binutils")

    return cache.make("guest", f"{source} {file_sha256(text)}", build)


def _compiled(program: str, source: str, arch: str, cache: Cache) -> Path:
    command, identity = compiler(arch)
    # Flags and rules are the Makefile's, so that a program made by hand is the program that is booted.
    inputs = [_source("Makefile"), _source(source), *sorted(_SOURCES.glob("*.h"))]
    key = "\n".join([program, arch, identity, *(f"{path.name} {file_sha256(path)}" for path in inputs)])

    def build(path: Path) -> None:
        scratch = path.parent
        for needed in inputs:
            shutil.copy(needed, scratch)
        folders = {"ZIG_GLOBAL_CACHE_DIR": str(scratch / "zig"), "ZIG_LOCAL_CACHE_DIR": str(scratch / "zig")}
        argv = ["make", "--silent", "OUT=out", f"CC={shlex.join(command)}", f"out/{program}"]
        run(argv, cwd=scratch, env=folders, deadline_s=_DEADLINE_S, package="make")
        (scratch / "out" / program).rename(path)

    return cache.make("guest", key, build)


def compiler(arch: str) -> tuple[list[str], str]:
    try:
        version = importlib.metadata.version("ziglang")
    except importlib.metadata.PackageNotFoundError:
        version = None
    if version is not None:
        return [sys.executable, "-m", "ziglang", "cc", "-target", f"{arch}-linux-musl"], f"zig {version}"
    if arch != platform.machine():
        raise MissingTool(
            f"no C compiler for {arch} guests on this {platform.machine()} host",
            hint="pip install ziglang (it is in bootlab's lock file: make setup)",
        )
    found = find_program("cc", package="gcc")
    return [found], run([found, "--version"]).text.splitlines()[0]


def _source(name: str) -> Path:
    path = _SOURCES / name
    if not path.is_file():
        raise BootlabError(f"{path}: not found; bootlab compiles its guest programs from a checkout of its sources")
    return path
