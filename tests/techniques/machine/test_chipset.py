"""Another machine: what must come along, and what must not be there."""

from bootlab.system import Machine, MachineType, System
from bootlab.techniques.model.evidence import Measured
from tests.techniques.asking import ALL


def apply(name: str, system: System, measured: Measured) -> System:
    assert ALL[name].change.applies(system, measured) is None
    return ALL[name].change.apply(system, measured)


def test_microvm_takes_its_driver_along_and_needs_acpi(system: System, measured: Measured) -> None:
    with_options = system.with_part("machine", options={"hpet": "off"})
    with_options = with_options.with_part("initramfs", modules=("virtio_blk",))
    changed = apply("machine_microvm", with_options, measured)
    assert changed.machine == Machine(type=MachineType.MICROVM, memory_mib=256)
    assert changed.initramfs is not None
    assert changed.initramfs.modules == ("virtio_mmio", "virtio_blk")
    assert "virtio-mmio" in (ALL["cmdline_acpi_off"].change.applies(changed, measured) or "")
    without_acpi = system.with_cmdline("acpi=off")
    assert "virtio-mmio" in (ALL["machine_microvm"].change.applies(without_acpi, measured) or "")
