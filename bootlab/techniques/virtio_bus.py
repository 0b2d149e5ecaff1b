"""The kernel options of the bus that a machine's virtio devices sit on."""

from bootlab.system import MachineType, System
from bootlab.techniques.technique import Measured


def virtio_bus(system: System, measured: Measured) -> dict[str, str]:
    """Return the options of virtio-mmio for microvm and the virt machine, of virtio over PCI for a PC."""
    machine = system.machine
    if machine.type is MachineType.VIRT:
        return {"VIRTIO_MMIO": "y", "PCI": "y", "PCI_HOST_GENERIC": "y", "VIRTIO_PCI": "y"}
    if machine.type is MachineType.MICROVM and machine.options.get("pcie") != "on":
        # Without ACPI, QEMU names the devices on the command line.
        return {"VIRTIO_MMIO": "y", "VIRTIO_MMIO_CMDLINE_DEVICES": "y"}
    return {"PCI": "y", "VIRTIO_PCI": "y"}
