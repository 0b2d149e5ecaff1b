"""Every tool and device bootlab can use: found or not, which version, what it is for, what to type to get it."""

import re
import shutil
from dataclasses import dataclass

from bootlab.build.cache import Cache
from bootlab.build.plugin import plugin_path
from bootlab.errors import BootlabError
from bootlab.measure.kvm import probe_kvm
from bootlab.measure.prepare import require_qemu
from bootlab.process import run


@dataclass(frozen=True, slots=True)
class Finding:
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
    _Tool("mmdebstrap", "mmdebstrap", "makes the clean Debian roots of make clean-root-test", needed=False),
)


def examine(cache: Cache) -> list[Finding]:
    """Return what is here. Never raises for a missing tool: that is a finding."""
    found = [
        _qemu("qemu-system-x86_64", "qemu-system-x86", "boots x86-64 systems", needed=True),
        _qemu("qemu-system-aarch64", "qemu-system-arm", "boots arm64 systems", needed=False),
        _plugin(),
    ]
    found += [_program(tool) for tool in _TOOLS]
    found.append(_kvm(cache))
    return found


def _qemu(program: str, package: str, purpose: str, *, needed: bool) -> Finding:
    purpose += " (9.2 or newer)"
    try:
        path = require_qemu(program)
    except BootlabError as error:
        hint = f"make setup, or: apt install {package} (Debian 12: -t bookworm-backports)"
        return Finding(program, False, error.message, purpose, hint, needed)
    return Finding(program, True, _version(str(path), "--version"), purpose, "", needed)


def _plugin() -> Finding:
    purpose = "counts instructions and sees marks from inside QEMU, unknown to the guest"
    try:
        path = plugin_path()
    except BootlabError as error:
        return Finding("plugin", False, error.message, purpose, error.hint or "make setup", True)
    return Finding("plugin", True, str(path), purpose, "", True)


def _program(tool: _Tool) -> Finding:
    path = shutil.which(tool.program)
    if path is None:
        return Finding(tool.program, False, "", tool.purpose, f"apt install {tool.package}", tool.needed)
    return Finding(tool.program, True, _version(path, tool.version_option), tool.purpose, "", tool.needed)


def _kvm(cache: Cache) -> Finding:
    purpose = "wall-clock figures at hardware speed"
    hint = 'clock.kind = "virtual" does without; on a host with virtualisation: modprobe kvm_intel or kvm_amd'
    try:
        probe = probe_kvm("host", cache)
    except BootlabError as error:
        return Finding("/dev/kvm", False, error.message, purpose, hint, False)
    return Finding("/dev/kvm", probe.works, probe.reason, purpose, "" if probe.works else hint, False)


def _version(path: str, option: str) -> str:
    try:
        done = run([path, option], deadline_s=20)
    except BootlabError as error:
        return error.message
    lines = (done.stdout + done.stderr).decode(errors="replace").strip().splitlines()
    found = re.search(r"\d+(\.\d+)+[^\s,)]*", lines[0]) if lines else None
    return found.group() if found else (lines[0] if lines else "")
