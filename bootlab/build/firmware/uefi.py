"""The UEFI firmware that a system's disk image is started by, with the variables that it begins with."""

from dataclasses import dataclass
from pathlib import Path

from bootlab.build.cache import file_sha256
from bootlab.build.debian import packages
from bootlab.build.firmware.edk2 import build_ovmf
from bootlab.build.image.boot_entry import with_boot_entry
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import System

_AAVMF_CODE, _AAVMF_VARIABLES = "usr/share/AAVMF/AAVMF_CODE.fd", "usr/share/AAVMF/AAVMF_VARS.fd"
_CODE, _VARIABLES = "usr/share/OVMF/OVMF_CODE_4M.fd", "usr/share/OVMF/OVMF_VARS_4M.fd"
_SECURE_CODE = "usr/share/OVMF/OVMF_CODE_4M.secboot.fd"
_SECURE_VARIABLES = "usr/share/OVMF/OVMF_VARS_4M.ms.fd"
"""With Microsoft's keys, by which Debian's shim is signed."""
_PACKAGE, _AAVMF_PACKAGE = "ovmf", "qemu-efi-aarch64"


@dataclass(frozen=True, slots=True)
class UefiFirmware:
    """Both are files of the cache, never to be changed; None of a machine that starts by BIOS."""

    code: Path | None = None
    variables: Path | None = None


def find_uefi(shop: Workshop, system: System) -> UefiFirmware:
    """Return the firmware of `machine.firmware = "ovmf"`: built, where the system says so, or of Debian's package.

    Raises InputError (no such package, suite or source; a package without the files), MissingTool, BuildFailed,
    Unreachable, StoreError.
    """
    machine = system.machine
    if machine.firmware_build is not None:
        built = build_ovmf(shop, machine.firmware_build)
        return UefiFirmware(built.code, built.variables)
    is_arm64 = machine.arch == "aarch64"
    name = _AAVMF_PACKAGE if is_arm64 else _PACKAGE
    package = packages.fetch(shop, name, machine.firmware_suite, machine.arch, key="machine.firmware")
    for note in package.notes:
        shop.tell(note)
    names = (_SECURE_CODE, _SECURE_VARIABLES) if machine.secure_boot else (_CODE, _VARIABLES)
    if is_arm64:
        names = (_AAVMF_CODE, _AAVMF_VARIABLES)
    code, variables = (package.tree / name for name in names)
    if not (code.is_file() and variables.is_file()):
        raise InputError(f"machine.firmware: {package.name} {package.version} has no {names[0]} with its {names[1]}")
    return UefiFirmware(code, variables)


def with_own_entry(shop: Workshop, firmware: UefiFirmware, entry: bytes) -> UefiFirmware:
    """Return `firmware` with a boot entry of the image's own among its variables."""
    variables = firmware.variables
    assert variables is not None

    def make(out: Path) -> None:
        out.write_bytes(with_boot_entry(variables.read_bytes(), entry))

    key = f"{file_sha256(variables)} {entry.hex()}"
    return UefiFirmware(firmware.code, shop.cache.make("firmware-variables", key, make))
