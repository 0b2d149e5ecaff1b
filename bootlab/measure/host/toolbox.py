"""Every tool and device bootlab can use: found or not, which version, what it is for, what to type to get it."""

import re
import shutil
from dataclasses import dataclass
from enum import StrEnum

from bootlab.build.board.bootloader import bootloader_parts
from bootlab.build.cache import Cache
from bootlab.build.plugin import find_plugin
from bootlab.build.source.toolchain import ARCHITECTURES, has_header, require_toolchain
from bootlab.build.workshop import Workshop
from bootlab.errors import BootlabError, MissingTool
from bootlab.process import ProgramFailed, require_program, run
from bootlab.sources import SET_UP
from bootlab.targets.qemu.getting import way_to_qemu
from bootlab.targets.qemu.kvm import probe_kvm
from bootlab.targets.qemu.program import require_qemu


class ToolJob(StrEnum):
    """What a tool is for: any boot, what is built from source or packages, or something that few want."""

    BOOT = "boot"
    BUILD = "build"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ToolStatus:
    """One tool or device. `needed` False: nothing that was asked about wants it."""

    name: str
    found: bool
    version: str
    purpose: str
    hint: str
    needed: bool
    job: ToolJob


@dataclass(frozen=True, slots=True)
class _Tool:
    program: str
    package: str
    purpose: str
    job: ToolJob = ToolJob.BUILD
    version_option: str = "--version"


_TOOLS = (
    _Tool("setpriv", "util-linux", "ties QEMU's life to bootlab's, so that none is ever left running", ToolJob.BOOT),
    _Tool("dpkg-deb", "dpkg", "unpacks the kernel packages that system files name", ToolJob.BOOT),
    _Tool("apt-get", "apt", "fetches them, with a private configuration in the cache", ToolJob.BOOT),
    _Tool("cc", "gcc", "compiles the plugin and bootlab-mark", ToolJob.BOOT),
    _Tool("as", "binutils", "assembles the guest that asks whether KVM works", ToolJob.BOOT),
    _Tool("make", "make", "builds the plugin", ToolJob.BOOT),
    _Tool("mke2fs", "e2fsprogs", "makes the fresh disks that system files ask for", ToolJob.BOOT, "-V"),
    _Tool("chromium", "chromium", "renders the report in make web-test", ToolJob.OTHER),
    _Tool("flex", "flex", "reads kernel configurations, for bootlab build kernel"),
    _Tool("bison", "bison", "the same"),
    _Tool("bc", "bc", "computes the kernel's time constants"),
    _Tool("perl", "perl", "runs scripts of the kernel's build", version_option="-v"),
    _Tool("cpio", "cpio", "packs the kernel's headers into kernels with IKHEADERS"),
    _Tool("ccache", "ccache", "keeps compiled kernel files, so that a change compiles little again"),
    _Tool("patch", "patch", "applies the patches of [kernel.build]"),
    _Tool("xz", "xz-utils", "unpacks kernel source, and packs kernels with xz or lzma"),
    _Tool("bzip2", "bzip2", "packs kernels with bzip2"),
    _Tool("lz4", "lz4", "packs kernels with lz4"),
    _Tool("lzop", "lzop", "packs kernels and initramfs with lzo"),
    _Tool("zstd", "zstd", "packs kernels with zstd"),
    _Tool("sqfstar", "squashfs-tools", "makes squashfs root images", version_option="-version"),
    _Tool("mkfs.erofs", "erofs-utils", "makes erofs root images", version_option="-V"),
    _Tool("fakeroot", "fakeroot", "makes them with root's files, without being root"),
    _Tool("go", "golang-go", "compiles an init written in Go", ToolJob.OTHER, "version"),
    _Tool("mcopy", "mtools", "composes a board's SD card"),
    _Tool("grub-fstest", "grub-common", "reads files out of disk images"),
    _Tool("qemu-img", "qemu-utils", "reads qcow2 images"),
    _Tool("strace", "strace", "times what a VMM asks KVM for (bootlab profile of a guest of KVM)", ToolJob.OTHER),
    _Tool("fdtput", "device-tree-compiler", "puts a command line into a board's device tree"),
    _Tool("swig", "swig", "builds U-Boot", version_option="-version"),
    _Tool("openssl", "openssl", "the same", version_option="version"),
    _Tool("nasm", "nasm", "builds OVMF, the UEFI firmware", version_option="-v"),
    _Tool("iasl", "acpica-tools", "the same", version_option="-v"),
    _Tool("g++", "g++", "the same"),
    _Tool("dpkg-source", "dpkg-dev", "unpacks source packages: programs of a board, such as ffmpeg"),
    _Tool("mmdebstrap", "mmdebstrap", "installs packages with their scripts (scripts = true), and makes clean roots"),
)

_BOARD_LIBC = "libc6-dev-armhf-cross"


def examine(cache: Cache, *, build: bool = False) -> list[ToolStatus]:
    """Return what is here. Never raises for a missing tool: that is a finding.

    `build`: what kernels, bootloaders and images are built with is needed, too.
    """
    found = [
        _qemu("qemu-system-x86_64", "boots x86-64 systems", needed=True),
        _qemu("qemu-system-aarch64", "boots arm64 systems"),
        _qemu("qemu-system-arm", "boots boards (armv7)"),
        _qemu("qemu-system-riscv64", "boots riscv64 systems and boards, with opensbi"),
        _plugin(cache),
    ]
    found += [_program(tool, build=build) for tool in (*_TOOLS, *_cross_compilers())]
    found += _parts(build=build)
    found.append(_kvm(cache))
    return found


def _qemu(program: str, purpose: str, *, needed: bool = False) -> ToolStatus:
    purpose += " (9.2 or newer)"
    job = ToolJob.BOOT if needed else ToolJob.OTHER
    try:
        path = require_qemu(program)
    except BootlabError as error:
        return ToolStatus(program, False, error.message, purpose, way_to_qemu(), needed, job)
    return ToolStatus(program, True, _version(str(path), "--version"), purpose, "", needed, job)


def _plugin(cache: Cache) -> ToolStatus:
    purpose = "counts instructions and sees marks from inside QEMU, unknown to the guest"
    try:
        path = find_plugin(Workshop(cache))
    except BootlabError as error:
        return ToolStatus("plugin", False, error.message, purpose, error.hint or SET_UP, True, ToolJob.BOOT)
    return ToolStatus("plugin", True, str(path), purpose, "", True, ToolJob.BOOT)


def _cross_compilers() -> list[_Tool]:
    chains = [require_toolchain(arch) for arch in ARCHITECTURES]
    return [_Tool(chain.cc, chain.package, f"compiles kernels for {chain.arch}") for chain in chains if chain.prefix]


def _parts(*, build: bool) -> list[ToolStatus]:
    """Return what is no program: C headers, Python's modules, a C library."""
    parts = {
        "libelf's headers": ("libelf-dev", has_header("gelf.h"), "x86-64 kernels: objtool is built with them"),
        "OpenSSL's headers": (
            "libssl-dev",
            has_header("openssl/bio.h"),
            "kernels with signed modules or a keyring, as Debian's; U-Boot",
        ),
    }
    for name, (package, found) in bootloader_parts().items():
        parts.setdefault(name, (package, found, "U-Boot and OVMF" if package == "uuid-dev" else "U-Boot"))
    chain = require_toolchain("armv7")
    if chain.prefix:
        # Only its compiler knows where it looks.
        found = shutil.which(chain.cc) is not None and _finds(chain.cc, "crt1.o")
        parts["the C library for armv7"] = (_BOARD_LIBC, found, "links programs of a board")
    return [
        ToolStatus(name, found, "", purpose, "" if found else f"apt install {package}", build, ToolJob.BUILD)
        for name, (package, found, purpose) in parts.items()
    ]


def _finds(compiler: str, name: str) -> bool:
    try:
        return "/" in run([compiler, f"-print-file-name={name}"], deadline_s=20).text
    except BootlabError:
        return False


def _program(tool: _Tool, *, build: bool) -> ToolStatus:
    needed = tool.job is ToolJob.BOOT or (build and tool.job is ToolJob.BUILD)
    try:
        path = require_program(tool.program)
    except MissingTool:
        return ToolStatus(tool.program, False, "", tool.purpose, f"apt install {tool.package}", needed, tool.job)
    return ToolStatus(tool.program, True, _version(path, tool.version_option), tool.purpose, "", needed, tool.job)


def _kvm(cache: Cache) -> ToolStatus:
    purpose = "wall-clock figures at hardware speed"
    hint = 'clock.kind = "virtual" does without; on a host with virtualisation: modprobe kvm_intel or kvm_amd'
    try:
        probe = probe_kvm("host", cache)
    except BootlabError as error:
        return ToolStatus("/dev/kvm", False, error.message, purpose, hint, False, ToolJob.OTHER)
    return ToolStatus("/dev/kvm", probe.works, probe.reason, purpose, "" if probe.works else hint, False, ToolJob.OTHER)


def _version(path: str, option: str) -> str:
    try:
        done = run([path, option], deadline_s=20)
        text = (done.stdout + done.stderr).decode(errors="replace")
    except ProgramFailed as error:
        # Some tell it and fail, as mkfs.erofs before 1.6.
        text = error.stdout or error.message
    except BootlabError as error:
        return error.message
    lines = text.strip().splitlines()
    found = re.search(r"\d+(\.\d+)+[^\s,)]*", lines[0]) if lines else None
    # iasl has a title first, and a date for a version.
    found = found or re.search(r"(?<=version )\d\S*", text)
    return found.group().rstrip(".") if found else (lines[0] if lines else "")
