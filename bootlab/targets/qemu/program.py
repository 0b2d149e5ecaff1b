"""QEMU's program on this host: is it there and new enough, its version, and the firmware it starts a machine with."""

import shutil
from functools import lru_cache
from pathlib import Path

from bootlab.errors import MissingTool
from bootlab.process import run
from bootlab.system import MachineType, System
from bootlab.targets.qemu.argv import qemu_binary
from bootlab.targets.qemu.getting import MINIMUM_QEMU, qemu_numbers, way_to_qemu

_PLUGIN_INTERFACES = (((11, 1), 7), ((11, 0), 6))
"""From which QEMU on another version of its plugin interface is the oldest it serves (plugin/qemu_plugin_api.h)."""
_FIRST_PLUGIN_INTERFACE = 4

_FIRMWARE = {
    (MachineType.MICROVM, "x86_64"): "bios-microvm.bin",
    (MachineType.VIRT, "aarch64"): None,
    (MachineType.VIRT, "riscv64"): "opensbi-riscv64-generic-fw_dynamic.bin",
}
"""What QEMU starts a machine with by itself, where that is not a PC's SeaBIOS; None: it enters the kernel."""
_CARD_ROM = "efi-virtio.rom"
"""QEMU's default for virtio-net-pci; in spite of its name for BIOS, too."""


@lru_cache
def require_qemu(binary: str) -> Path:
    """Return the path of a QEMU that is new enough. Raises MissingTool."""
    found = shutil.which(binary)
    if found is None:
        raise MissingTool(f"{binary}: not found", hint=f"{way_to_qemu()}; bootlab doctor lists every tool")
    text = probe_qemu_version(Path(found))
    if qemu_numbers(text) < MINIMUM_QEMU:
        wanted = ".".join(map(str, MINIMUM_QEMU))
        raise MissingTool(
            f"{found}: version {text.partition(' ')[0] or 'unknown'}, bootlab needs {wanted} or newer",
            hint=way_to_qemu(),
        )
    return Path(found)


def plugin_environment(program: Path) -> dict[str, str]:
    """Return what the environment of QEMU tells our plugin: the version of the plugin interface to ask this QEMU for.

    Raises MissingTool when QEMU is not there, ProgramFailed when it does not run.
    """
    numbers = qemu_numbers(probe_qemu_version(program))
    served = (version for since, version in _PLUGIN_INTERFACES if numbers >= since)
    return {"BOOTLAB_QEMU_PLUGIN_VERSION": str(next(served, _FIRST_PLUGIN_INTERFACE))}


def find_firmware(system: System) -> Path | None:
    """Return the firmware image that QEMU will load, or None when the machine starts the kernel itself."""
    machine = system.machine
    if system.board is not None or machine.firmware == "ovmf":
        # OVMF is among the files that the system boots from.
        return None
    if machine.firmware not in ("default", "qboot"):
        return Path(machine.firmware)
    name = _FIRMWARE.get((machine.type, machine.arch), "bios-256k.bin")
    if machine.uses_qboot:
        name = "qboot.rom"
    return None if name is None else _find_file(system, name)


def find_option_rom(system: System) -> Path | None:
    """Return the ROM that QEMU gives the system's network card, where nothing else is asked for; None without a card.

    Also of a system that asks for a card without one: its boot shows then that firmware starts none.
    """
    return _find_file(system, _CARD_ROM) if system.network is not None else None


def _find_file(system: System, name: str) -> Path | None:
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
