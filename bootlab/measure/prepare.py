"""System -> all that its boots need, made once for every seed: files, symbols, plugin configuration, hashes."""

import hashlib
import json
import os
import platform
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from bootlab.build import boot_files
from bootlab.build.cache import Cache, file_sha256
from bootlab.build.plugin import plugin_path
from bootlab.errors import InputError, MissingTool
from bootlab.measure.host.huge_pages import expect_pages
from bootlab.measure.host.kvm import probe_kvm
from bootlab.measure.profile_setup import ProfileRequest, ProfileSetup, set_up_profile
from bootlab.process import run
from bootlab.profile.asked.boot import arch_line, make_plugin_config
from bootlab.profile.asked.stage_marks import LoadedFile, stage_lines
from bootlab.symbols.firmware import Firmware
from bootlab.symbols.system_map import read_kernel_symbols
from bootlab.symbols.table import SymbolTable, read_symbols
from bootlab.system import Accelerator, BootFiles, ClockKind, KernelEntry, MachineType, System
from bootlab.targets.qemu.argv import qemu_binary
from bootlab.timeline.marks import OWN

MINIMUM_QEMU = (9, 2)
"""Plugin API v4: reading guest registers and memory from a TCG plugin (QEMU 9.2)."""

_FIRMWARE = {
    (MachineType.MICROVM, "x86_64"): "bios-microvm.bin",
    (MachineType.VIRT, "aarch64"): None,
    (MachineType.VIRT, "riscv64"): "opensbi-riscv64-generic-fw_dynamic.bin",
}
"""What QEMU starts a machine with by itself, where that is not a PC's SeaBIOS; None: it enters the kernel."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A system that is ready to boot. `symbols` and `plugin_config` are None where there is no plugin (wall clock)."""

    system: System
    files: BootFiles
    symbols: SymbolTable | None
    plugin: Path | None
    plugin_config: str | None
    accelerator: Accelerator | None
    """None for a real board, as are `qemu` and all that the plugin needs."""
    hashes: dict[str, str]
    qemu: Path | None
    kvm: str
    """What is known of KVM here, in words."""
    profile: ProfileSetup | None = None
    """What a profiled boot is told besides; not part of the key, because the guest cannot notice it."""

    @property
    def runs_on(self) -> str:
        """Return what executes the boot's instructions: `tcg`, `kvm` or `board`."""
        return "board" if self.accelerator is None else self.accelerator.value

    @property
    def key(self) -> str:
        """Return the sha256 of everything that decides the boot: files count by content, never by path."""
        system = self.system.model_dump(
            mode="json",
            exclude={
                "name": True,
                "description": True,
                "kernel": {"image", "package", "build", "suite", "symbols"},
                "initramfs": True,
                "rootfs": True,
                "disks": {"__all__": {"path"}},
                # What it makes is on the medium, whose content counts.
                "bootloader": True,
                "card": True,
                "flash": True,
            },
        )
        document = {"system": system, "hashes": self.hashes, "plugin_config": self.plugin_config}
        return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()

    @property
    def sizes(self) -> dict[str, int]:
        """Return the bytes of kernel, initramfs, card, flash, rootfs and disks, of those there are."""
        files = self.files
        # Disks follow the root file system, which is the first.
        names = [f"disk{index}" for index in range(len(files.disks))]
        if self.system.rootfs is not None:
            names = ["rootfs", *names[:-1]]
        if self.system.kernel.installed:
            return {}
        named = {
            "kernel": files.kernel,
            "initramfs": files.initramfs,
            "card": files.card,
            "flash": files.flash,
            **dict(zip(names, files.disks, strict=True)),
        }
        return {name: path.stat().st_size for name, path in named.items() if path is not None}

    @property
    def load_ns(self) -> int:
        """Return the time to load kernel and initramfs by the system's storage model; 0 without one."""
        storage = self.system.storage
        loaded = [size for name, size in self.sizes.items() if name in ("kernel", "initramfs")]
        return storage.load_ns(loaded) if storage is not None else 0

    def with_seed(self, seed: int) -> "Prepared":
        """Return the same boot with another seed; nothing needs to be made again."""
        return replace(self, system=self.system.with_seed(seed))


def prepare(
    system: System,
    cache: Cache,
    *,
    watch: tuple[str, ...] = (),
    profile: ProfileRequest | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Prepared:
    """Make or find all that `system` boots from. `watch`: kernel symbols whose first execution becomes `watch:SYMBOL`.

    With `profile` the boots are profiled (virtual clock only). `tell` gets a line before a step that may take long.
    Raises InputError for files that cannot be right, MissingTool for a QEMU that is absent or too old.
    """
    _expect_marks_of_guest(system)
    if system.target is not None:
        return _prepare_board(system, cache, profile, tell)
    binary = require_qemu(qemu_binary(system))
    expect_pages(system)
    files = boot_files.prepare(system, cache, tell=tell)
    hashes = {**files.hashes, "qemu": file_sha256(binary)}
    if (firmware := firmware_file(system)) is not None:
        hashes["firmware"] = file_sha256(firmware)
    if system.clock.kind is ClockKind.WALL:
        if profile is not None:
            raise InputError(
                "clock.kind: a profile counts instructions, and the wall clock has none",
                hint='clock.kind = "virtual" in the system file',
            )
        if system.marks:
            raise InputError('marks: kernel symbols are seen under clock.kind = "virtual" only')
        accelerator, kvm = _accelerator(system, cache)
        return Prepared(system, files, None, None, None, accelerator, hashes, binary, kvm)
    if system.booted.console is not None and system.machine.arch != "x86_64":
        raise InputError(
            "booted.console: the virtual clock sees an x86-64 guest's console only",
            hint='let the guest say it with bootlab-mark and give booted.mark, or use clock.kind = "wall"',
        )
    plugin = plugin_path()
    hashes["plugin"] = file_sha256(plugin)
    symbols = _symbols(files.vmlinux, files.symbols)
    stop = system.booted.mark if system.check is None else system.check.mark
    config = _plugin_config(system, symbols, watch, stop, _stages(system, files))
    setup = set_up_profile(system, files, symbols, cache, profile) if profile is not None else None
    return Prepared(system, files, symbols, plugin, config, Accelerator.TCG, hashes, binary, "not asked for", setup)


def _prepare_board(
    system: System, cache: Cache, profile: ProfileRequest | None, tell: Callable[[str], None]
) -> Prepared:
    if profile is not None:
        raise InputError("target: a profile counts instructions, and those of a real board cannot be seen")
    if system.kernel.installed:
        # Nothing is delivered, so there is no file; a path is there for those who never ask.
        files = BootFiles(kernel=Path(os.devnull))
    else:
        files = boot_files.prepare(system, cache, tell=tell)
    return Prepared(system, files, None, None, None, None, dict(files.hashes), None, "not asked for")


def _expect_marks_of_guest(system: System) -> None:
    for key, part in (("booted.mark", system.booted), ("check.mark", system.check)):
        if part is not None and part.mark in OWN:
            raise InputError(
                f"{key}: {part.mark!r} is a mark that bootlab makes itself, and this one is the guest's to make",
                hint=f'for example {key} = "{"ready" if key == "booted.mark" else "checked"}"',
            )


def doubts(system: System) -> list[str]:
    """Return why boots of this system may not repeat exactly although they are on the virtual clock."""
    reads_disks = system.disks and system.machine.arch == "x86_64" and system.kernel.entry is KernelEntry.IMAGE
    if system.clock.kind is ClockKind.VIRTUAL and reads_disks and "edd=off" not in system.kernel.cmdline.split():
        return [
            "kernel.cmdline: without edd=off the kernel's setup code reads every disk through the firmware, and a read "
            "completes when the host does: this boot will not repeat exactly"
        ]
    return []


def _plugin_config(
    system: System, symbols: SymbolTable | None, watch: tuple[str, ...], stop: str | None, stages: list[str]
) -> str:
    if symbols is None:
        # A kernel whose symbols cannot be had still has its guest marks.
        lines = [arch_line(system.machine.arch, None), *stages, "guestmarks", *([f"stop {stop}"] if stop else [])]
        return "".join(f"{line}\n" for line in lines)
    known = tuple(symbol for symbol in watch if symbols.address(symbol) is not None)
    return make_plugin_config(symbols, marks=system.marks, watch=known, stop=stop, stages=stages).text


def _stages(system: System, files: BootFiles) -> list[str]:
    if system.board is None:
        return []
    spl, uboot = (None if path is None else Firmware(path) for path in (files.spl, files.uboot))
    opensbi = None if files.opensbi is None else LoadedFile(files.opensbi.read_bytes(), (files.opensbi_at,))
    return stage_lines(spl, opensbi, uboot, LoadedFile(files.kernel.read_bytes(), system.kernel_places))


@lru_cache
def require_qemu(binary: str) -> Path:
    """Return the path of a QEMU that is new enough. Raises MissingTool."""
    found = shutil.which(binary)
    if found is None:
        raise MissingTool(f"{binary}: not found", hint="make setup installs it; bootlab doctor lists every tool")
    words = run([found, "--version"], deadline_s=20).text.split()
    text = words[words.index("version") + 1] if "version" in words[:-1] else ""
    numbers = tuple(int(part) for part in text.split(".")[:2] if part.isdigit())
    if numbers < MINIMUM_QEMU:
        wanted = ".".join(map(str, MINIMUM_QEMU))
        raise MissingTool(
            f"{found}: version {text or 'unknown'}, bootlab needs {wanted} or newer",
            hint="Debian 13 has it; on Debian 12 it is in bookworm-backports: make setup installs it",
        )
    return Path(found)


def firmware_file(system: System) -> Path | None:
    """Return the firmware image that QEMU will load, or None when the machine starts the kernel itself."""
    machine = system.machine
    if system.board is not None:
        return None
    if machine.firmware not in ("default", "qboot"):
        return Path(machine.firmware)
    name = _FIRMWARE.get((machine.type, machine.arch), "bios-256k.bin")
    if machine.uses_qboot:
        name = "qboot.rom"
    if name is None:
        return None
    return next((path / name for path in _firmware_folders(qemu_binary(system)) if (path / name).is_file()), None)


@lru_cache
def _firmware_folders(binary: str) -> tuple[Path, ...]:
    return tuple(Path(line) for line in run([binary, "-L", "help"], deadline_s=20).text.splitlines())


@lru_cache
def _accelerator_for(cpu: str, cache: Cache) -> tuple[bool, str]:
    probe = probe_kvm(cpu, cache)
    return probe.works, probe.reason


def _accelerator(system: System, cache: Cache) -> tuple[Accelerator, str]:
    wanted = system.clock.accelerator
    if wanted is Accelerator.TCG:
        return wanted, "not asked for"
    host = platform.machine()
    if system.machine.arch == host:
        works, reason = _accelerator_for(system.machine.cpu, cache)
    else:
        works, reason = False, f"this host is {host}, the system's machine is {system.machine.arch}"
    if wanted is Accelerator.KVM and not works:
        raise MissingTool(
            f'clock.accelerator = "kvm": KVM does not run guests here: {reason}',
            hint='clock.kind = "virtual" needs no KVM; clock.accelerator = "tcg" measures emulation, not speed',
        )
    return (Accelerator.KVM if works else Accelerator.TCG), reason


@lru_cache(maxsize=8)
def _symbols(vmlinux: Path | None, given: Path | None) -> SymbolTable | None:
    if given is None:
        return read_symbols(vmlinux) if vmlinux is not None else None
    # An image that cannot be unpacked here is believed to be of the same build.
    return read_kernel_symbols(given, vmlinux) if vmlinux is not None else read_symbols(given)
