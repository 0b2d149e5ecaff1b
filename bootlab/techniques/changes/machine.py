"""The machine with some of its keys changed, and what techniques ask of it: its type, its bus, is it a board."""

from bootlab.system import MachineType, System
from bootlab.techniques.changes.kernel_options import is_on, known
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.technique import Applies, Apply

NO_INTERRUPTS = (
    "without ACPI only a kernel that reads MP tables (X86_MPPARSE) finds the I/O APIC, and qboot sets up nothing else "
    "that interrupts come through"
)
X86 = (MachineType.Q35, MachineType.PC, MachineType.MICROVM)


def with_machine(**changes: object) -> Apply:
    """Return an `apply` that sets keys of the system's machine."""
    return lambda system, measured: system.with_part("machine", **changes)


def with_options(options: dict[str, str]) -> Apply:
    """Return an `apply` that adds to QEMU's properties of the machine."""
    return lambda system, measured: system.with_part("machine", options={**system.machine.options, **options})


def only_on(*types: MachineType) -> Applies:
    """Return the check that the system's machine is one of `types`."""

    def applies(system: System, measured: Measured) -> str | None:
        if system.machine.type in types:
            return None
        return f"machine.type is {system.machine.type.value}, not {' or '.join(one.value for one in types)}"

    return applies


def fixed_by_board(system: System) -> str | None:
    """Say why CPUs and memory cannot be changed: the machine is a board. None where it is none."""
    if system.board is None or system.board.extensible:
        return None
    return f"{system.machine.type.value} is a board, which has what it has"


def reads_mp_tables(system: System, measured: Measured) -> bool:
    """Return whether the kernel is known to find CPUs and the I/O APIC of a PC without ACPI."""
    return known(system, measured) and is_on(system, measured, "X86_MPPARSE")


def has_pci_devices(system: System) -> bool:
    """Return whether the system's virtio devices sit on a PCI bus."""
    devices = bool(system.disks) or system.network is not None
    return devices and not has_mmio_devices(system)


def has_mmio_devices(system: System) -> bool:
    """Return whether the system's virtio devices sit on microvm's virtio-mmio slots."""
    devices = bool(system.disks) or system.network is not None
    return devices and system.machine.type is MachineType.MICROVM and system.machine.options.get("pcie") != "on"
