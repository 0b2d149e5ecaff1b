"""Builds the guest whose profile is known beforehand: a kernel module, a program, and a system file that boots them.

The module is compiled against Debian's own headers for the kernel that is booted, unpacked beside each other and never
installed; the program by the pinned compiler that makes bootlab's own.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bootlab.build.cache import Cache, file_sha256
from bootlab.build.debian import packages
from bootlab.build.modules.package import ModuleTree
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.process import run

SOURCES = Path(__file__).parent
MODULE_SOURCES = ("Kbuild", "module.c", "spin_x86_64.S")
KERNEL, SUITE = "linux-image-cloud-amd64", "bookworm"

ROUNDS = 25_000_000
SLEEP_MS = 250
"""So much work and sleep that the few instructions around it are far below a thousandth."""

_PROGRAM_FLAGS = (
    "-std=gnu11 -O1 -Wall -Wextra -Werror -ffreestanding -fno-builtin -fno-pie -fno-stack-protector -static -nostdlib"
).split()


@pytest.fixture(scope="session")
def truth_folder(cache: Cache, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with system.toml and all that it names."""
    folder = tmp_path_factory.mktemp("ground-truth")
    shutil.copy(_module(cache), folder / "ground_truth.ko")
    _fill(folder, "x86_64", "system.toml")
    return folder


@pytest.fixture(scope="session")
def truth_folder_arm64(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same for arm64, without the module."""
    folder = tmp_path_factory.mktemp("ground-truth-arm64")
    _fill(folder, "aarch64", "system-arm64.toml")
    return folder


def _fill(folder: Path, arch: str, system: str) -> None:
    shutil.copy(SOURCES / system, folder / "system.toml")
    shutil.copy(SOURCES / "init", folder)
    (folder / "amounts").write_text(f"{ROUNDS} {SLEEP_MS}\n")
    compiler = [sys.executable, "-m", "ziglang", "cc", "-target", f"{arch}-linux-musl"]
    zig = {"ZIG_GLOBAL_CACHE_DIR": str(folder / "zig"), "ZIG_LOCAL_CACHE_DIR": str(folder / "zig")}
    argv = [*compiler, *_PROGRAM_FLAGS, "-o", folder / "ground-truth", SOURCES / "process.c"]
    run(argv, env=zig, deadline_s=180)


def _module(cache: Cache) -> Path:
    """Return the module, built once for each source and kernel."""
    kernel, headers = _kernel_and_headers(cache)
    release = ModuleTree(kernel.tree).release
    common = _linked(headers.tree / f"usr/src/linux-headers-{release}/Makefile", r"linux-headers-[^/\s]*-common")
    kbuild = headers.tree / f"usr/src/linux-headers-{release}/scripts"
    # The last is for objtool: a machine with a compiler need not have it.
    names = [common, re.search(r"linux-kbuild-[^/]+", str(kbuild.readlink()))[0], "libelf1"]  # type: ignore[index]
    trees = [headers.tree, *(packages.fetch(Workshop(cache), name, SUITE, "x86_64").tree for name in names)]
    sources = [f"{name} {file_sha256(SOURCES / name)}" for name in MODULE_SOURCES]
    compiler = run(["cc", "--version"], package="gcc").text.splitlines()[0]
    key = "\n".join([*sources, *(tree.name for tree in trees), compiler])
    return cache.make("module", key, lambda out: _compile_module(trees, release, common, out))


def _kernel_and_headers(cache: Cache) -> tuple[packages.Package, packages.Package]:
    kernel = packages.fetch(Workshop(cache), KERNEL, SUITE, "x86_64")
    try:
        return kernel, packages.fetch(Workshop(cache), _headers_of(kernel), SUITE, "x86_64")
    except InputError:
        # The archive has replaced the kernel that the cache holds, and its headers with it.
        kernel = packages.fetch(Workshop(cache, refresh=True), KERNEL, SUITE, "x86_64")
        return kernel, packages.fetch(Workshop(cache), _headers_of(kernel), SUITE, "x86_64")


def _headers_of(kernel: packages.Package) -> str:
    return kernel.name.replace("linux-image-", "linux-headers-")


def _linked(file: Path, pattern: str) -> str:
    found = re.search(pattern, file.read_text())
    assert found is not None, file
    return found[0]


def _compile_module(trees: list[Path], release: str, common: str, out: Path) -> None:
    root = out.parent / "root"
    for tree in trees:
        # Hard links: the packages refer to each other by place, so they must lie in one tree, and are 80 MB.
        subprocess.run(["cp", "--archive", "--link", f"{tree}/.", root], check=True)
    headers = root / "usr/src" / f"linux-headers-{release}"
    # It includes the common one by its installed path.
    (headers / "Makefile").unlink()
    (headers / "Makefile").write_text(f"include {root}/usr/src/{common}/Makefile\n")
    work = out.parent / "work"
    work.mkdir()
    for name in MODULE_SOURCES:
        shutil.copy(SOURCES / name, work)
    # Without MAKEFLAGS of a make that runs the tests. The kernel's own compiler need not be installed: one of another
    # version makes a module that loads as well.
    env = {"MAKEFLAGS": "", "MAKELEVEL": "", "LD_LIBRARY_PATH": f"{root}/usr/lib/x86_64-linux-gnu"}
    run(["make", "-C", headers, f"M={work}", "CC=cc", "modules"], env=env, deadline_s=300, package="make")
    (work / "ground_truth.ko").rename(out)
