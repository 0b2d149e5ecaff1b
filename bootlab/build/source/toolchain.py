"""Compilers for each architecture: make's words for it, the compiler's identity, and the tools that it takes.

What is missing is told all at once, with the one apt-get line that brings it.
"""

import platform
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from bootlab.errors import InputError, MissingTool
from bootlab.process import ProgramFailed, run
from bootlab.sources import SET_UP_BUILD

ARCHITECTURES = ("x86_64", "aarch64", "armv7", "riscv64")
"""Machines that a kernel can be built for."""

_MACHINES = {"x86_64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64", "armv7l": "armv7", "riscv64": "riscv64"}
"""What this host may call itself -> our name."""
_COMPRESSORS = {
    "KERNEL_BZIP2": ("bzip2", "bzip2"),
    "KERNEL_LZMA": ("xz", "xz-utils"),
    "KERNEL_XZ": ("xz", "xz-utils"),
    "KERNEL_LZO": ("lzop", "lzop"),
    "KERNEL_LZ4": ("lz4", "lz4"),
    "KERNEL_ZSTD": ("zstd", "zstd"),
    "INITRAMFS_COMPRESSION_BZIP2": ("bzip2", "bzip2"),
    "INITRAMFS_COMPRESSION_LZMA": ("xz", "xz-utils"),
    "INITRAMFS_COMPRESSION_XZ": ("xz", "xz-utils"),
    "INITRAMFS_COMPRESSION_LZO": ("lzop", "lzop"),
    "INITRAMFS_COMPRESSION_LZ4": ("lz4", "lz4"),
    "INITRAMFS_COMPRESSION_ZSTD": ("zstd", "zstd"),
    "IKHEADERS": ("cpio", "cpio"),
}
"""Option -> the program that its build runs, and that program's Debian package."""
RUST = "RUST"
"""The option of a kernel with Rust in it."""
NO_RUST = "false"
"""The program in the place of a Rust compiler: kconfig asks it for its version, and takes its failure for none."""
_NEEDS_OPENSSL = ("SYSTEM_TRUSTED_KEYRING", "MODULE_SIG", "SYSTEM_EXTRA_CERTIFICATE")
_INCLUDES = ("/usr/include", "/usr/local/include")


@dataclass(frozen=True, slots=True)
class Toolchain:
    """How a kernel for one architecture is built on this host."""

    arch: str
    """`x86_64`, `aarch64`, `armv7` or `riscv64`."""
    kbuild: str
    """What the kernel's Makefile calls it: the ARCH of `make ARCH=`."""
    prefix: str
    """Of the cross tools, as in `aarch64-linux-gnu-`; empty on a host of that architecture."""
    target: str
    """What to make: `bzImage`, `Image`, `zImage`."""
    image: str
    """Where that is then, below the objects."""
    rust: bool = False
    """Whether the kernel is to have Rust in it. Else no compiler of it is looked for: its version would stand in the
    configuration, and so in the bytes of a kernel that embeds that (IKCONFIG), which no Rust went into."""

    @property
    def cc(self) -> str:
        return f"{self.prefix}gcc"

    @property
    def package(self) -> str:
        """Return the Debian package of that compiler."""
        return f"gcc-{self.prefix.rstrip('-').replace('_', '-')}" if self.prefix else "gcc"

    @property
    def words(self) -> list[str]:
        """Return what make must be told of it, the same for configuring and for building."""
        ccache = "ccache " if shutil.which("ccache") else ""
        rust = [] if self.rust else [f"RUSTC={NO_RUST}"]
        words = [f"ARCH={self.kbuild}", f"CROSS_COMPILE={self.prefix}", f"CC={ccache}{self.cc}", f"HOSTCC={ccache}gcc"]
        return [*words, *rust]

    @property
    def identity(self) -> str:
        """Return what tells this compiler and linker from others, in one line; they must be there."""
        return _identity(self.prefix)


_PLACES = {
    "x86_64": ("x86", "x86_64-linux-gnu-", "bzImage", "arch/x86/boot/bzImage"),
    "aarch64": ("arm64", "aarch64-linux-gnu-", "Image", "arch/arm64/boot/Image"),
    "armv7": ("arm", "arm-linux-gnueabihf-", "zImage", "arch/arm/boot/zImage"),
    "riscv64": ("riscv", "riscv64-linux-gnu-", "Image", "arch/riscv/boot/Image"),
}


def require_toolchain(arch: str, *, rust: bool = False) -> Toolchain:
    """Return the toolchain for kernels of `arch` on this host. Raises InputError for an architecture not known here."""
    if arch not in _PLACES:
        raise InputError(f"no kernel can be built for {arch}", hint=f"known here: {', '.join(ARCHITECTURES)}")
    kbuild, prefix, target, image = _PLACES[arch]
    native = _MACHINES.get(platform.machine()) == arch
    return Toolchain(arch, kbuild, "" if native else prefix, target, image, rust)


def require_tools(
    toolchain: Toolchain,
    options: Mapping[str, str],
    extra: Iterable[tuple[str, str]] = (),
    *,
    what: str = "kernel",
    absent: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Check for all that a kernel (or `what`) with these options (name -> value) is built with.

    `extra`: further programs and their Debian packages; `absent`: what else is known to be missing, and its package.
    Raises MissingTool that names everything missing at once.
    """
    wanted = [
        ("make", "make"),
        ("gcc", "gcc"),
        ("ld", "binutils"),
        ("flex", "flex"),
        ("bison", "bison"),
        ("bc", "bc"),
        ("perl", "perl"),
        *((program, package) for option, (program, package) in _COMPRESSORS.items() if options.get(option) == "y"),
        *extra,
    ]
    if toolchain.prefix:
        binutils = toolchain.package.replace("gcc", "binutils", 1)
        wanted += [(toolchain.cc, toolchain.package), (f"{toolchain.prefix}ld", binutils)]
    missing = {program: package for program, package in wanted if shutil.which(program) is None} | dict(absent)
    if toolchain.arch == "x86_64" and not has_header("gelf.h"):
        missing["libelf's headers"] = "libelf-dev"
    if any(options.get(option) == "y" for option in _NEEDS_OPENSSL) and not has_header("openssl/bio.h"):
        missing["OpenSSL's headers"] = "libssl-dev"
    if not has_header("stdio.h"):
        missing["the C library's headers"] = "libc6-dev"
    if missing:
        packages = " ".join(dict.fromkeys(missing.values()))
        raise MissingTool(
            f"to build a {what} for {toolchain.arch}, this machine lacks {', '.join(missing)}",
            hint=f"apt-get install {packages}; {SET_UP_BUILD} installs what any build needs",
        )


@lru_cache
def probe_tools(*, rust: bool) -> dict[str, str]:
    """Return the versions of the optional tools whose presence kconfig turns into options of a configuration.

    `rust`: those of a toolchain that has it, too.
    """
    found = {}
    for program in ("pahole", *(("rustc", "bindgen") if rust else ())):
        if path := shutil.which(program):
            try:
                found[program] = run([path, "--version"], deadline_s=20).text.strip()
            except ProgramFailed as error:
                # rustup's stand-in for a compiler that is not installed. kconfig takes it for none.
                found[program] = f"exit {error.exit_status}"
    return found


def has_header(name: str) -> bool:
    """Return whether this host's compiler finds a C header, as in `gelf.h`."""
    triplet = f"{platform.machine()}-linux-gnu"
    return any((Path(folder) / part / name).is_file() for folder in _INCLUDES for part in ("", triplet))


@lru_cache
def _identity(prefix: str) -> str:
    lines = [run([f"{prefix}{tool}", "--version"], deadline_s=20).text.splitlines() for tool in ("gcc", "ld")]
    return "; ".join(found[0].strip() for found in lines if found)
