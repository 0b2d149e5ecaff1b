"""bootlab's own guest programs, compiled static for the architecture that is booted.

zig from the pinned ziglang wheel is taken where it is installed: it compiles for every architecture and makes the same
bytes on every host, so that an initramfs, and with it every exact figure, is the same too. A host compiler serves its
own architecture otherwise.
"""

import importlib.metadata
import platform
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bootlab.build.cache import Cache, file_sha256
from bootlab.errors import BootlabError, MissingTool
from bootlab.process import require_program, run
from bootlab.sources import GUEST

_DEADLINE_S = 600.0
MARK = "/sbin/bootlab-mark"
FACTS = "/sbin/bootlab-facts"
INIT = "/sbin/bootlab-init"
CTL = "/sbin/bootlab-ctl"
COLDPLUG = "/sbin/bootlab-coldplug"
CLONE = "/sbin/bootlab-clone"
KEPT = "/sbin/bootlab-kept"
SLEEP = "/sbin/bootlab-sleep"
READAHEAD = "/sbin/bootlab-readahead"
PRELOAD = "/sbin/bootlab-preload"
MOUNT_ROOT = "/init"
_HOST_FIT = "host-fit.bin"
PRINT_MAP = "-Wl,--print-map"
"""What has a linker print what lies where; bootlab.symbols.lld_map reads lld's."""
_ZIG_TARGETS = {"armv7": "arm-linux-musleabihf"}
"""What zig calls a target, where that is not our own name for it."""
_ZIG_CPUS = {"armv7": "generic+v7a"}
"""Where zig would take an older one."""


def compile_programs(arch: str, cache: Cache) -> dict[str, Path]:
    """Return path in the guest -> file on the host, for every program that a recipe's initramfs always carries.

    `arch` is x86_64, aarch64, armv7 or riscv64. Raises MissingTool when there is no compiler for it, ProgramFailed with
    the compiler's messages, BootlabError when bootlab's sources are not here.
    """
    sources = [_source("Makefile"), _source("mark.c"), _source("mark.h")]
    return {MARK: _compiled("bootlab-mark", sources, arch, cache), FACTS: _source("facts.sh")}


def compile_runtime(arch: str, cache: Cache) -> dict[str, Path]:
    """Return path in the guest -> file on the host, for bootlab-init and the program that speaks with it.

    Arguments and errors as `compile_programs`.
    """
    return {path: _compiled(Path(path).name, _init_sources(), arch, cache) for path in (INIT, CTL)}


def compile_runtime_maps(arch: str, cache: Cache) -> dict[str, Path]:
    """Return path in the guest -> the linker's map of it, for the programs of `compile_runtime`.

    It is empty where the linker is not zig's lld, and if the program with a map is not the same, byte for byte.
    Arguments and errors as `compile_programs`.
    """
    if not prints_map(require_compiler(arch)[0]):
        return {}
    return {name: _map(name, program, arch, cache) for name, program in compile_runtime(arch, cache).items()}


def compile_coldplug(arch: str, cache: Cache, *, record: bool) -> dict[str, Path]:
    """Return path in the guest -> file on the host, for what follows a coldplug plan.

    With `record` the facts are of the devices too. Other arguments and errors as `compile_programs`.
    """
    sources = _sources_in("coldplug", "shared")
    made = {COLDPLUG: _compiled("bootlab-coldplug", sources, arch, cache)}
    if record:
        made |= {FACTS: _source("facts_devices.sh"), f"{FACTS}.plain": _source("facts.sh")}
    return made


def add_system_facts(programs: Mapping[str, Path]) -> dict[str, Path]:
    """Return `programs` with facts of an installed system, too, ahead of those that they have.

    Raises BootlabError when bootlab's sources are not here.
    """
    plain = f"{FACTS}.plain"
    below = {f"{plain}.plain": programs[plain]} if plain in programs else {}
    return {**programs, **below, plain: programs[FACTS], FACTS: _source("facts_system.sh")}


def compile_clone(arch: str, cache: Cache) -> dict[str, Path]:
    """Return path in the guest -> file on the host, for the agent that makes a restored machine one of its own.

    Arguments and errors as `compile_programs`.
    """
    return {CLONE: _compiled("bootlab-clone", [_source("mark.h"), *_sources_in("clone", "shared")], arch, cache)}


def compile_kept(arch: str, cache: Cache) -> dict[str, Path]:
    """Return path in the guest -> file on the host, for what reads kept RAM. Errors as `compile_programs`."""
    return {KEPT: _compiled("bootlab-kept", [_source("mark.h"), *_sources_in("kept", "shared")], arch, cache)}


def compile_kept_board(arch: str, cache: Cache) -> dict[str, Path]:
    """Return path in the guest -> file on the host, for what tells a board's SPL that the system became ready.

    Errors as `compile_programs`.
    """
    sources = [_source("mark.h"), *_sources_in("kept", "shared")]
    return {KEPT: _compiled("bootlab-kept-board", sources, arch, cache)}


def compile_sleep(arch: str, cache: Cache) -> dict[str, Path]:
    """Return path in the guest -> file on the host, for what puts a machine to sleep. Errors as `compile_programs`."""
    sources = [_source("mark.h"), *_sources_in("sleep", "kept", "clone", "shared")]
    return {SLEEP: _compiled("bootlab-sleep", sources, arch, cache)}


def compile_readahead(arch: str, cache: Cache) -> dict[str, Path]:
    """Return path in the guest -> file on the host, for what reads ahead. Errors as `compile_programs`."""
    return {READAHEAD: _compiled("bootlab-readahead", _sources_in("readahead", "shared"), arch, cache)}


def compile_preload(arch: str, cache: Cache) -> dict[str, Path]:
    """Return path in the guest -> file on the host, for what reads for sessions. Errors as `compile_programs`."""
    return {PRELOAD: _compiled("bootlab-preload", _sources_in("preload", "readahead", "shared"), arch, cache)}


def mount_root_script() -> dict[str, Path]:
    """Return path in the guest -> file on the host, for an initramfs that only mounts the root and starts its init."""
    return {MOUNT_ROOT: _source("mount_root.sh")}


def compile_init_check(cache: Cache) -> Path:
    """Return the program that reads a system's units as bootlab-init does, made for this host.

    Errors as `compile_programs`.
    """
    return _compiled("bootlab-init-check", _init_sources(), platform.machine(), cache)


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


def make_host_fit(cache: Cache) -> Path:
    """Return the firmware image that times a host's exits under KVM (guest/host_fit), for x86-64.

    Raises MissingTool without a compiler, binutils or make, ProgramFailed with their messages.
    """
    sources = [
        _source(name) for name in ("Makefile", *(f"host_fit/{name}" for name in ("link.ld", "main.c", "start.S")))
    ]

    def build(path: Path) -> None:
        _make(_HOST_FIT, sources, "x86_64", path.parent, cache)
        (path.parent / "out" / _HOST_FIT).rename(path)

    # Whatever compiled it: it times what leaves the guest, and loops that are written in assembly.
    return cache.make("guest", "\n".join([_HOST_FIT, *map(file_sha256, sources)]), build)


def _init_sources() -> list[Path]:
    return [_source("mark.h"), *_sources_in("init", "shared")]


def _sources_in(*folders: str) -> list[Path]:
    files = (path for folder in folders for path in (GUEST / folder).rglob("*") if path.suffix in {".c", ".h", ".ld"})
    return [_source("Makefile"), *sorted(path for path in files if path.parent.name != "tests")]


def _compiled(program: str, inputs: list[Path], arch: str, cache: Cache) -> Path:
    def build(path: Path) -> None:
        _make(program, inputs, arch, path.parent, cache)
        (path.parent / "out" / program).rename(path)

    return cache.make("guest", _key(program, inputs, arch), build)


def _map(name: str, program: Path, arch: str, cache: Cache) -> Path:
    inputs, made = _init_sources(), Path(name).name

    def build(path: Path) -> None:
        text = _make(made, inputs, arch, path.parent, cache, f"MAP={PRINT_MAP}")
        write_map(path, text, path.parent / "out" / made, program)

    return cache.make("guest-map", _key(made, inputs, arch), build)


def _key(program: str, inputs: list[Path], arch: str) -> str:
    hashes = (f"{path.relative_to(GUEST)} {file_sha256(path)}" for path in inputs)
    return "\n".join([program, arch, require_compiler(arch)[1], *hashes])


def _make(program: str, inputs: list[Path], arch: str, scratch: Path, cache: Cache, *words: str) -> str:
    """Make out/`program` in `scratch`; returns what the linker printed."""
    # Flags and rules are the Makefile's, so that a program made by hand is the program that is booted.
    for needed in inputs:
        name = needed.relative_to(GUEST)
        (scratch / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(needed, scratch / name)
    argv = ["make", "--silent", "OUT=out", f"CC={shlex.join(require_compiler(arch)[0])}", *words, f"out/{program}"]
    return run(argv, cwd=scratch, env=zig_folders(cache), deadline_s=_DEADLINE_S, package="make").text


def zig_folders(cache: Cache) -> dict[str, str]:
    """Return the environment in which zig keeps the C library that it compiles on first use, which takes a minute."""
    return {name: str(cache.root / "zig") for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}


def write_map(path: Path, text: str, linked: Path, program: Path) -> None:
    """Write what a linker printed as it made `linked`; nothing if that is not `program`, byte for byte."""
    path.write_text(text if linked.read_bytes() == program.read_bytes() else "", encoding="utf-8")


def prints_map(command: Sequence[str]) -> bool:
    """Return whether the linker of a compiler from `require_compiler` is lld, whose map can be read."""
    return "ziglang" in command


def require_compiler(arch: str, cpu: str | None = None) -> tuple[list[str], str]:
    """Return the words of a C compiler for static guest programs, and what tells it from others.

    `cpu`: zig's name of one, instead of what every machine of `arch` has; a host compiler keeps its own. Raises
    MissingTool when there is none.
    """
    try:
        version = importlib.metadata.version("ziglang")
    except importlib.metadata.PackageNotFoundError:
        version = None
    if version is not None:
        cpu = cpu or _ZIG_CPUS.get(arch)
        target = [_ZIG_TARGETS.get(arch, f"{arch}-linux-musl"), *([f"-mcpu={cpu}"] if cpu else [])]
        return [sys.executable, "-m", "ziglang", "cc", "-target", *target], f"zig {version}"
    if arch != platform.machine():
        raise MissingTool(
            f"no C compiler for {arch} guests on this {platform.machine()} host",
            hint="pip install ziglang (it is in bootlab's lock file: make setup)",
        )
    found = require_program("cc", package="gcc")
    return [found], run([found, "--version"]).text.splitlines()[0]


def _source(name: str) -> Path:
    path = GUEST / name
    if not path.is_file():
        raise BootlabError(f"{path}: not found; bootlab compiles its guest programs from a checkout of its sources")
    return path
