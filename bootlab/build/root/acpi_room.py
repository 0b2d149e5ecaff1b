"""An initramfs beside a microVM's ACPI tables: QEMU would lay the one over the other."""

from pathlib import Path
from typing import Final

from bootlab.build.cache import Cache, file_sha256
from bootlab.system import KernelEntry, MachineType, System

_PAGE: Final = 4096


def clear_of_acpi(system: System, archive: Path | None, cache: Cache) -> Path | None:
    """Return the archive, padded where QEMU would lay it over the machine's ACPI tables."""
    machine = system.machine
    at_risk = machine.type is MachineType.MICROVM and system.kernel.entry is KernelEntry.PVH
    if archive is None or not at_risk or machine.options.get("acpi") == "off":
        return archive
    # For a PVH kernel QEMU puts the archive's end into the last page of memory, up to 4095 bytes from its end, and
    # microvm's tables lie in the last 1 KiB (QEMU 10.0, x86_load_linux(): acpi_data_size is 0 for microvm only).
    # Of an archive of whole pages it leaves that page free, and Linux skips the zeros.
    data = archive.read_bytes()
    if len(data) % _PAGE == 0:
        return archive
    padded = data + bytes(-len(data) % _PAGE)

    def write(out: Path) -> None:
        out.write_bytes(padded)

    return cache.make("padded", file_sha256(archive), write)
