"""QEMU's program on this host: is it there and new enough, its version, and the firmware it starts a machine with."""

import shutil
from functools import lru_cache
from pathlib import Path

from bootlab.errors import MissingTool
from bootlab.process import run
from bootlab.system import MachineType, System
from bootlab.targets.qemu.argv import qemu_binary

MINIMUM_QEMU = (9, 2)
"""Plugin API v4: reading guest registers and memory from a TCG plugin (QEMU 9.2)."""

_FIRMWARE = {
    (MachineType.MICROVM, "x86_64"): "bios-microvm.bin",
    (MachineType.VIRT, "aarch64"): None,
    (MachineType.VIRT, "riscv64"): "opensbi-riscv64-generic-fw_dynamic.bin",
}
"""What QEMU starts a machine with by itself, where that is not a PC's SeaBIOS; None: it enters the kernel."""


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


def find_firmware(system: System) -> Path | None:
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
def probe_qemu_version(program: Path) -> str:
    """Return a QEMU program's version with its packager's, e.g. `10.0.2 (Debian 1:10.0.2+ds-2+deb13u1)`.

    Raises MissingTool when it is not there, ProgramFailed when it does not run.
    """
    # QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2+deb13u1)
    first_line = run([program, "--version"], deadline_s=20).text.partition("\n")[0]
    return first_line.partition(" version ")[2] or first_line
