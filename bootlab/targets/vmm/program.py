"""A VMM's program: where it is, which version, and whether this host can run what it is asked for."""

import os
import shutil
from functools import lru_cache
from pathlib import Path
from typing import Final

from bootlab.build.cache import Cache
from bootlab.errors import BootlabError, InputError, MissingTool
from bootlab.process import ProgramFailed, run
from bootlab.system import System, VmmProgram
from bootlab.system.part import brief
from bootlab.targets.qemu.huge_pages import read_free_pages
from bootlab.targets.qemu.kvm import probe_kvm
from bootlab.targets.vmm.identity import Vmm

_KVM: Final = Path("/dev/kvm")
_DEVICES: Final = Path("/sys/class/net")
_PAGE_MIB: Final = 2
NUMBER: Final = "{n}"
"""In the name of a tap device: the number of the machine, of those that are there at a time."""


def find_program(binary: str, key: str = "target.binary") -> Path:
    """Return the path of a program that `key` names. Raises MissingTool."""
    found = shutil.which(binary)
    if found is None:
        what = "is no program that this user may run" if os.path.exists(binary) else "not found"
        raise MissingTool(
            f"{key}: {binary}: {what}",
            hint="its releases have one for each architecture; scripts/vmm builds one from its public source",
        )
    return Path(found).absolute()


def probe_version(program: Path, vmm: Vmm, key: str = "target.binary") -> str:
    """Return its version, as in `1.15.1`. Raises MissingTool, which names `key`, for a program that is not this VMM."""
    return _version_of(program, vmm, key, program.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _version_of(program: Path, vmm: Vmm, key: str, changed_ns: int) -> str:
    try:
        said = run([program, "--version"], deadline_s=20).text
    except (ProgramFailed, OSError) as error:
        raise MissingTool(f"{key}: {program}: does not run: {brief(str(error))}") from error
    if (found := vmm.version.search(said)) is None:
        raise MissingTool(f"{key}: {program}: says {brief(said.strip())!r} to --version: no {vmm.name}")
    return found[1]


def expect_host(system: System, target: VmmProgram, vmm: Vmm, cache: Cache) -> str:
    """Return what is known of KVM here, in words. Raises MissingTool, InputError where this host cannot boot it."""
    if target.huge_pages == "2M" and (free := read_free_pages()) < system.machine.memory_mib // _PAGE_MIB:
        need = system.machine.memory_mib // _PAGE_MIB
        raise MissingTool(
            f'target.huge_pages = "2M": {system.machine.memory_mib} MiB take {need} huge pages, and this host has '
            f"{free} free",
            hint=f"as root: sysctl vm.nr_hugepages={need}; 0 gives them back",
        )
    return _kvm_words(target.probe, vmm.name, cache)


def tap_of(target: VmmProgram, number: int) -> str | None:
    """Return the tap device of a machine, the `number`-th from 1 of those that are there at a time; None without."""
    return None if target.tap is None else target.tap.replace(NUMBER, str(number))


def expect_place(socket: str | None) -> None:
    """Raise InputError where no socket can be made at the path that a system file names."""
    if socket is None:
        return
    place = Path(socket).absolute()
    if place.is_dir():
        raise InputError(f"target.socket: {place}: is a folder, and no path of a socket that is not there yet")
    if not place.parent.is_dir():
        raise InputError(f"target.socket: {place}: its folder is not there", hint=f"mkdir -p {place.parent}")


def expect_tap(target: VmmProgram, number: int) -> None:
    """Raise InputError where the machine of that number has a tap device that this host has not."""
    tap = tap_of(target, number)
    if tap is None or not target.sees_tap:
        return
    if not (_DEVICES / tap).exists():
        raise InputError(
            f"target.tap: {tap}: no such network device here",
            hint=f"as root: ip tuntap add {tap} mode tap user $USER; ip link set {tap} up",
        )


@lru_cache(maxsize=4)
def _kvm_words(probe: bool, name: str, cache: Cache) -> str:
    hint = f'target: only a host with KVM has machines of {name}; clock.kind = "virtual" on QEMU needs none'
    if not probe:
        return "not probed (target.probe = false)"
    if not _KVM.exists():
        raise MissingTool(f"KVM: {_KVM} does not exist", hint=hint)
    if not os.access(_KVM, os.R_OK | os.W_OK):
        raise MissingTool(
            f"KVM: {_KVM} is not readable and writable by this user", hint=f"{hint}; sudo adduser $USER kvm"
        )
    if shutil.which("qemu-system-x86_64") is None:
        return "its device opens; not probed, for want of QEMU"
    try:
        found = probe_kvm("host", cache)
    except BootlabError as error:
        return f"its device opens; not probed: {error.message}"
    if not found.works:
        raise MissingTool(
            f"KVM does not run guests here: {found.reason}", hint=f"{hint}; target.probe = false tries it all the same"
        )
    return found.reason
