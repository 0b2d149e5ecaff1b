"""Put the system on QEMU's microvm machine: virtio-mmio slots, no PCI bus, no chipset."""

from bootlab.system import MachineType, System
from bootlab.techniques.cmdline import NONE_PUBLISHED, has_words
from bootlab.techniques.evidence import any_of, fact_is, line_vanishes
from bootlab.techniques.machine import only_on
from bootlab.techniques.technique import Layer, Measured, Removes, Risk, Source, Technique

_DRIVER = "virtio_mmio"
_on_pc = only_on(MachineType.Q35, MachineType.PC)


def _applies(system: System, measured: Measured) -> str | None:
    if (reason := _on_pc(system, measured)) is not None:
        return reason
    devices = bool(system.disks) or system.network is not None
    if devices and has_words(system, "acpi=off"):
        return "with acpi=off on the command line the kernel finds no virtio-mmio device"
    if has_words(system, "nolapic_timer"):
        return "with nolapic_timer on the command line nothing would tick: Linux uses no other timer on microvm"
    return None


def _apply(system: System, measured: Measured) -> System:
    # The options of one machine type are unknown to another, and QEMU refuses what it does not know.
    changed = system.with_part("machine", type=MachineType.MICROVM, options={})
    initramfs = system.initramfs
    if initramfs is None or not initramfs.modules or _DRIVER in initramfs.modules:
        return changed
    return changed.with_part("initramfs", modules=(_DRIVER, *initramfs.modules))


TECHNIQUE = Technique(
    name="machine_microvm",
    layer=Layer.MACHINE,
    summary="replaces the emulated PC by QEMU's microvm, with virtio-mmio devices and without a PCI bus",
    mechanism=(
        "There is no chipset, no PCI bus to scan, no PCI interrupt routing in ACPI, no VGA, no USB, no SATA; the "
        "firmware runs few option ROMs, and ACPI describes a handful of virtio-mmio slots."
    ),
    knob='machine.type = "microvm" (and the virtio_mmio module in the initramfs)',
    cost="no PCI devices and no hotplug; kernels whose virtio-mmio driver needs ACPI must keep ACPI",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            NONE_PUBLISHED,
            "QEMU's microvm documentation: no official ms figure found; rellermeyer/container_benchmarks issue 1",
        ),
    ),
    apply=_apply,
    prove=any_of(fact_is("pci_devices", r"^0\b"), line_vanishes("DMI: QEMU Standard PC")),
    applies=_applies,
    removes=Removes(
        "the search for PCI buses and devices, and what a chipset has",
        functions=(
            "pci_arch_init",
            "pci_subsys_init",
            "pcibios_assign_resources",
            "pci_apply_final_quirks",
            "acpi_pci_root_add",
            "acpi_pci_link_add",
            "early_quirks",
            "early_pci_scan_bus",
            "i8042_init",
            "hpet_late_init",
            "dmi_setup",
            "dmi_init",
        ),
        # Fewer option ROMs, a shorter DSDT.
        shortens=("[firmware]", "acpi_init"),
    ),
)
