"""Every tool and device bootlab can use: found or not, which version, what it is for, what to type to get it."""

import re
from dataclasses import dataclass

from bootlab.build.cache import Cache
from bootlab.build.plugin import find_plugin
from bootlab.build.source.toolchain import ARCHITECTURES, has_header, require_toolchain
from bootlab.build.workshop import Workshop
from bootlab.errors import BootlabError, MissingTool
from bootlab.process import ProgramFailed, require_program, run
from bootlab.targets.qemu.kvm import probe_kvm
from bootlab.targets.qemu.program import require_qemu


@dataclass(frozen=True, slots=True)
class ToolStatus:
    """One tool or device. `needed` False: only some jobs want it."""

    name: str
    found: bool
    version: str
    purpose: str
    hint: str
    needed: bool


@dataclass(frozen=True, slots=True)
class _Tool:
    program: str
    package: str
    purpose: str
    needed: bool = True
    version_option: str = "--version"


_TOOLS = (
    _Tool("setpriv", "util-linux", "ties QEMU's life to bootlab's, so that none is ever left running"),
    _Tool("dpkg-deb", "dpkg", "unpacks the kernel packages that system files name"),
    _Tool("apt-get", "apt", "fetches them, with a private configuration in the cache"),
    _Tool("cc", "gcc", "compiles the plugin and bootlab-mark"),
    _Tool("as", "binutils", "assembles the guest that asks whether KVM works"),
    _Tool("make", "make", "builds the plugin"),
    _Tool("mke2fs", "e2fsprogs", "makes the fresh disks that system files ask for", version_option="-V"),
    _Tool("chromium", "chromium", "renders the report in make web-test", needed=False),
    _Tool("flex", "flex", "reads kernel configurations, for bootlab build kernel", needed=False),
    _Tool("bison", "bison", "the same", needed=False),
    _Tool("bc", "bc", "computes the kernel's time constants", needed=False),
    _Tool("perl", "perl", "runs scripts of the kernel's build", needed=False, version_option="-v"),
    _Tool("ccache", "ccache", "keeps compiled kernel files, so that a change compiles little again", needed=False),
    _Tool("patch", "patch", "applies the patches of [kernel.build]", needed=False),
    _Tool("xz", "xz-utils", "unpacks kernel source, and packs kernels with xz or lzma", needed=False),
    _Tool("bzip2", "bzip2", "packs kernels with bzip2", needed=False),
    _Tool("lz4", "lz4", "packs kernels with lz4", needed=False),
    _Tool("lzop", "lzop", "packs kernels and initramfs with lzo", needed=False),
    _Tool("zstd", "zstd", "packs kernels with zstd", needed=False),
    _Tool("sqfstar", "squashfs-tools", "makes squashfs root images", needed=False, version_option="-version"),
    _Tool("mkfs.erofs", "erofs-utils", "makes erofs root images", needed=False, version_option="-V"),
    _Tool("fakeroot", "fakeroot", "makes them with root's files, without being root", needed=False),
    _Tool("go", "golang-go", "compiles an init written in Go", needed=False, version_option="version"),
    _Tool("mcopy", "mtools", "composes a board's SD card", needed=False),
    _Tool("grub-fstest", "grub-common", "reads files out of disk images", needed=False),
    _Tool("qemu-img", "qemu-utils", "reads qcow2 images", needed=False),
    _Tool("strace", "strace", "times what a VMM asks KVM for (bootlab profile of a guest of KVM)", needed=False),
    _Tool("fdtput", "device-tree-compiler", "puts a command line into a board's device tree", needed=False),
    _Tool("swig", "swig", "builds U-Boot", needed=False, version_option="-version"),
    _Tool(
        "mmdebstrap",
        "mmdebstrap",
        "installs packages with their scripts (scripts = true), and makes clean roots",
        needed=False,
    ),
)


_HEADERS = (
    ("gelf.h", "libelf-dev", "libelf's headers", "x86-64 kernels: objtool is built with them"),
    (
        "openssl/bio.h",
        "libssl-dev",
        "OpenSSL's headers",
        "kernels with signed modules or a keyring, as Debian's; U-Boot",
    ),
    ("gnutls/gnutls.h", "libgnutls28-dev", "GnuTLS's headers", "U-Boot"),
)


def examine(cache: Cache) -> list[ToolStatus]:
    """Return what is here. Never raises for a missing tool: that is a finding."""
    found = [
        _qemu("qemu-system-x86_64", "qemu-system-x86", "boots x86-64 systems", needed=True),
        _qemu("qemu-system-aarch64", "qemu-system-arm", "boots arm64 systems", needed=False),
        _qemu("qemu-system-arm", "qemu-system-arm", "boots boards (armv7)", needed=False),
        _qemu(
            "qemu-system-riscv64", "qemu-system-riscv", "boots riscv64 systems and boards, with opensbi", needed=False
        ),
        _plugin(cache),
    ]
    found += [_program(tool) for tool in (*_TOOLS, *_cross_compilers())]
    found += [_header(*header) for header in _HEADERS]
    found.append(_kvm(cache))
    return found


def _qemu(program: str, package: str, purpose: str, *, needed: bool) -> ToolStatus:
    purpose += " (9.2 or newer)"
    try:
        path = require_qemu(program)
    except BootlabError as error:
        hint = f"make setup, or: apt install {package} (Debian 12: -t bookworm-backports)"
        return ToolStatus(program, False, error.message, purpose, hint, needed)
    return ToolStatus(program, True, _version(str(path), "--version"), purpose, "", needed)


def _plugin(cache: Cache) -> ToolStatus:
    purpose = "counts instructions and sees marks from inside QEMU, unknown to the guest"
    try:
        path = find_plugin(Workshop(cache))
    except BootlabError as error:
        return ToolStatus("plugin", False, error.message, purpose, error.hint or "make setup", True)
    return ToolStatus("plugin", True, str(path), purpose, "", True)


def _cross_compilers() -> list[_Tool]:
    chains = [require_toolchain(arch) for arch in ARCHITECTURES]
    return [
        _Tool(chain.cc, chain.package, f"compiles kernels for {chain.arch}", needed=False)
        for chain in chains
        if chain.prefix
    ]


def _header(name: str, package: str, title: str, purpose: str) -> ToolStatus:
    found = has_header(name)
    return ToolStatus(title, found, "", purpose, "" if found else f"apt install {package}", False)


def _program(tool: _Tool) -> ToolStatus:
    try:
        path = require_program(tool.program)
    except MissingTool:
        return ToolStatus(tool.program, False, "", tool.purpose, f"apt install {tool.package}", tool.needed)
    return ToolStatus(tool.program, True, _version(path, tool.version_option), tool.purpose, "", tool.needed)


def _kvm(cache: Cache) -> ToolStatus:
    purpose = "wall-clock figures at hardware speed"
    hint = 'clock.kind = "virtual" does without; on a host with virtualisation: modprobe kvm_intel or kvm_amd'
    try:
        probe = probe_kvm("host", cache)
    except BootlabError as error:
        return ToolStatus("/dev/kvm", False, error.message, purpose, hint, False)
    return ToolStatus("/dev/kvm", probe.works, probe.reason, purpose, "" if probe.works else hint, False)


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
    return found.group() if found else (lines[0] if lines else "")
