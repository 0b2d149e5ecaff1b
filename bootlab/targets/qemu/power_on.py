"""The boot before a power-on, and what that finds: memory or disks as files, and what kernel and plugin are told.

What a boot leaves is in files that QEMU shares. A boot that finds something maps a copy of the memory for itself, and
writes to its disks in passing: so every boot finds the same.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.build.root.left_disks import MEMORY, disk_file
from bootlab.errors import InputError
from bootlab.process import run
from bootlab.system import KEEPS_RAM, BootFiles, Fault, System, sleep_word
from bootlab.targets.qemu.wiring import MemoryFile, Overlays

_STOPS: Final = {Fault.REFILL_CUT: "refill_half", Fault.HANG: "root_kept", Fault.SAVE_CUT: "save_half"}
"""The guest's mark at which the boot before is cut off that leaves such a fault (guest/kept/main.c)."""
_KEPT: Final = "kept"
_SAVED: Final = "saved"
"""The last mark of a root with changes: docs/persistence.md has it save them once its RAM is seen to."""
_HIBERNATING, _FAILED, _WOKE = "hibernating", "not_slept", "woke"
"""guest/sleep/main.c"""


@dataclass(frozen=True, slots=True)
class LeftFiles:
    """What a boot leaves to another, or finds of one. `until`: the mark it must come to; `stop`: the one that ends it.

    `words`: by which its kernel's command line asks for that.
    """

    memory: MemoryFile | None = None
    overlays: Overlays | None = None
    until: str = ""
    stop: str = ""
    words: str = ""


def leaving(system: System, folder: Path, found: LeftFiles | None) -> LeftFiles:
    """Return what the boot before a power-on of `system` leaves in `folder`. `found`: what it finds itself.

    Raises InputError for a system that finds nothing.
    """
    asked = system.power_on
    if asked is None or not asked.finds:
        raise InputError("power_on.kind: this machine finds nothing of a boot before it")
    if asked.kind in KEEPS_RAM:
        last = _KEPT if system.changes_device is None else _SAVED
        stop = _STOPS.get(asked.fault, last) if asked.fault is not None else last
        overlays = None if system.changes_device is None else _overlays(system, folder, kept=True)
        return LeftFiles(MemoryFile(folder / MEMORY, shared=True), overlays, until=stop, stop=stop)
    overlays = _overlays(system, folder, kept=True)
    if asked.fault is Fault.IMAGE_TAKEN:
        return LeftFiles(overlays=overlays, until=_WOKE, stop=_WOKE)
    # A board's words are on its card (measure/power_on.py).
    words = "" if system.hibernated_by_loader else sleep_word(system)
    if system.restorer is not None:
        # A kernel that wakes in this mode switches ACPI on, for the one that restored it may have left it off.
        words += " bootlab.sleep.platform"
    return LeftFiles(overlays=overlays, until=_HIBERNATING, stop=_FAILED, words=words)


def make_left_files(left: LeftFiles, found: LeftFiles | None, files: BootFiles) -> None:
    """Make the files that a boot leaves, as they are when it begins."""
    if left.memory is not None and found is not None and found.memory is not None:
        shutil.copyfile(found.memory.path, left.memory.path)
    if left.overlays is not None:
        if found is not None and found.overlays is not None:
            for path, before in zip(left.overlays.paths, found.overlays.paths, strict=True):
                shutil.copyfile(before, path)
            return
        for path, below in zip(left.overlays.paths, files.written, strict=True):
            size = str(below.stat().st_size)
            run(["qemu-img", "create", "-q", "-f", "qcow2", path, size], package="qemu-utils")


def finding(system: System, folder: Path) -> LeftFiles:
    """Return what a power-on of `system` finds in `folder`."""
    assert system.power_on is not None
    if system.power_on.kind not in KEEPS_RAM:
        return LeftFiles(overlays=_overlays(system, folder, kept=False))
    overlays = None if system.changes_device is None else _overlays(system, folder, kept=False)
    return LeftFiles(MemoryFile(folder / MEMORY, shared=False), overlays)


def _overlays(system: System, folder: Path, *, kept: bool) -> Overlays:
    disks = 1 if system.hibernated_by_loader else (1 if system.rootfs is not None else 0) + len(system.disks)
    return Overlays(tuple(folder / disk_file(index) for index in range(disks)), kept=kept)


def leaving_config(config: str, stop: str) -> str:
    """Return what the plugin is told of a boot that leaves something, from what it is told of the boot."""
    lines = [line for line in config.splitlines() if line.split(" ", 1)[0] != "stop"]
    return "".join(f"{line}\n" for line in [*lines, f"stop {stop}"])
