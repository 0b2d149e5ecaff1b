"""Devices that a kernel is built without: those of the system stay, with their bus."""

from bootlab.system import Disk, MachineType, System
from tests.techniques.asking import KERNEL, NOTHING, asked


def test_devices_need_their_bus(built: System) -> None:
    with_disk = built.model_copy(update={"disks": (Disk(size_mib=16),)})
    on_pc = with_disk.with_part("machine", type=MachineType.Q35, options={})
    assert "PCI devices" in (KERNEL["kernel_pci_off"].change.applies(on_pc, NOTHING) or "")
    assert KERNEL["kernel_pci_off"].change.applies(with_disk, NOTHING) is None
    assert "has disks" in (KERNEL["kernel_block_off"].change.applies(with_disk, NOTHING) or "")
    with_acpi = with_disk.with_part("machine", options={})
    assert "through ACPI" in (KERNEL["kernel_acpi_off"].change.applies(with_acpi, NOTHING) or "")
    assert KERNEL["kernel_acpi_off"].change.applies(with_disk, NOTHING) is None
    adds = KERNEL["kernel_add_virtio_blk"]
    assert asked(adds, with_disk)["VIRTIO_MMIO_CMDLINE_DEVICES"] == "y"
    assert asked(adds, on_pc)["VIRTIO_PCI"] == "y"
