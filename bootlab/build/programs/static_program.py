"""A user's own program for the guest, from one C or Go source file: static, so that it needs nothing else there.

C is compiled as bootlab's own guest programs are (zig's musl where it is installed, else the host's compiler); Go by
the host's `go`, without cgo.
"""

import shutil
from pathlib import Path
from typing import TypeVar

from bootlab.build.cache import Cache, file_sha256
from bootlab.build.programs import guest
from bootlab.errors import InputError
from bootlab.process import ProgramFailed, require_program, run
from bootlab.system import Content

ContentT = TypeVar("ContentT", bound=Content)

SUFFIXES = (".c", ".go")
"""What is taken for a source; any other file goes into the image as it is."""

_DEADLINE_S = 600.0
_C_FLAGS = ("-std=gnu11", "-Os", "-static", "-s")
_GO_ARCH = {"x86_64": "amd64", "aarch64": "arm64", "armv7": "arm", "riscv64": "riscv64"}


def is_source(path: Path) -> bool:
    """Return whether `path` is compiled before it goes into an image."""
    return path.suffix in SUFFIXES


def with_programs(content: ContentT, arch: str, cache: Cache) -> ContentT:
    """Return the recipe with every source that it names, as init or among its files, replaced by the program of it.

    Raises as `compile_static`.
    """

    def program(path: Path) -> Path:
        return compile_static(path, arch, cache) if is_source(path) else path

    files = {name: program(path) for name, path in content.files.items()}
    init = program(content.init) if content.init is not None else None
    return content.model_copy(update={"init": init, "files": files})


def compile_static(source: Path, arch: str, cache: Cache) -> Path:
    """Return the static program of a source file for `arch`, from the cache when it was made before.

    Raises InputError with the compiler's own messages, MissingTool without a compiler.
    """
    return (_compile_go if source.suffix == ".go" else _compile_c)(source, arch, cache)


def make_linker_map(source: Path, arch: str, cache: Cache) -> Path | None:
    """Return the linker's map of the program that `compile_static` makes; None where the linker is not zig's lld.

    It is empty if the program with a map is not the same, byte for byte. Raises as `compile_static`.
    """
    compiler, identity = guest.require_compiler(arch)
    if source.suffix == ".go" or not guest.prints_map(compiler):
        return None
    program = compile_static(source, arch, cache)

    def build(path: Path) -> None:
        text = _link_c(source, [*compiler, *_C_FLAGS, guest.PRINT_MAP], path.parent, cache)
        linked = path.with_name("linked")
        path.rename(linked)
        guest.write_map(path, text, linked, program)

    return cache.make("program-map", "\n".join(["c", arch, identity, *_C_FLAGS, file_sha256(source)]), build)


def _compile_c(source: Path, arch: str, cache: Cache) -> Path:
    compiler, identity = guest.require_compiler(arch)

    def build(path: Path) -> None:
        _link_c(source, [*compiler, *_C_FLAGS], path.parent, cache)

    return cache.make("program", "\n".join(["c", arch, identity, *_C_FLAGS, file_sha256(source)]), build)


def _link_c(source: Path, words: list[str], folder: Path, cache: Cache) -> str:
    """Compile and link into `made` in `folder`; returns what the linker printed."""
    # A copy by its own name: paths of this host must not decide the bytes.
    shutil.copy(source, folder / source.name)
    return _run(source, [*words, "-o", "made", source.name], folder, guest.zig_folders(cache), package="gcc")


def _compile_go(source: Path, arch: str, cache: Cache) -> Path:
    version = run([require_program("go", package="golang-go"), "version"]).text.strip()

    def build(path: Path) -> None:
        shutil.copy(source, path.parent / source.name)
        environment = {
            "CGO_ENABLED": "0",
            "GOOS": "linux",
            "GOARCH": _GO_ARCH[arch],
            "GOCACHE": str(path.parent / "go"),
            "GOTOOLCHAIN": "local",
            "GOFLAGS": "-mod=mod",
        }
        argv = ["go", "build", "-trimpath", "-ldflags=-s -w -buildid=", "-o", "made", source.name]
        _run(source, argv, path.parent, environment, package="golang-go")

    return cache.make("program", "\n".join(["go", arch, version, file_sha256(source)]), build)


def _run(source: Path, argv: list[str], folder: Path, environment: dict[str, str], *, package: str) -> str:
    try:
        return run(argv, cwd=folder, env=environment, deadline_s=_DEADLINE_S, package=package).text
    except ProgramFailed as error:
        # The compiler's words; which program ran it is our affair.
        raise InputError(f"{source}: does not compile:\n{error.stderr.strip() or error.message}") from error
