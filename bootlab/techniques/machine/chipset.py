"""Which of QEMU's machines it is, and how many devices it has."""

from bootlab.system import MachineType, System
from bootlab.techniques.changes.command_line import has_words
from bootlab.techniques.changes.machine import only_on, with_machine, with_options
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import any_of, fact_falls, fact_is, line_changes, line_vanishes
from bootlab.techniques.model.published import GARZARELLA_2019, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.subjects import PCI_SEARCH
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

_DRIVER = "virtio_mmio"
_on_pc = only_on(MachineType.Q35, MachineType.PC)
UNUSED: dict[MachineType, dict[str, str]] = {
    MachineType.Q35: {"sata": "off", "smbus": "off", "usb": "off", "i8042": "off", "vmport": "off", "smm": "off"},
    MachineType.PC: {"usb": "off", "i8042": "off", "vmport": "off", "smm": "off"},
    MachineType.MICROVM: {"pit": "off", "pic": "off"},
}
"""QEMU machine properties, by machine. The serial port stays, because the console is there; so does the real-time clock
of microvm, because Linux 6.1 waits a second each time it asks one that is not there."""


def _fits_microvm(system: System, measured: Measured) -> str | None:
    if (reason := _on_pc(system, measured)) is not None:
        return reason
    devices = bool(system.disks) or system.network is not None
    if devices and has_words(system, "acpi=off"):
        return "with acpi=off on the command line the kernel finds no virtio-mmio device"
    if has_words(system, "nolapic_timer"):
        return "with nolapic_timer on the command line nothing would tick: Linux uses no other timer on microvm"
    return None


def _on_microvm(system: System, measured: Measured) -> System:
    # The options of one machine type are unknown to another, and QEMU refuses what it does not know.
    changed = system.with_part("machine", type=MachineType.MICROVM, options={})
    initramfs = system.initramfs
    if initramfs is None or not initramfs.modules or _DRIVER in initramfs.modules:
        return changed
    return changed.with_part("initramfs", modules=(_DRIVER, *initramfs.modules))


def _has_unused_devices(system: System, measured: Measured) -> str | None:
    machine = system.machine
    if machine.type not in UNUSED:
        return f"{machine.type.value} has no such options"
    if UNUSED[machine.type].items() <= machine.options.items():
        return "machine.options has them all already"
    return None


def _without_devices(system: System, measured: Measured) -> System:
    return with_options(UNUSED[system.machine.type])(system, measured)


TECHNIQUES = (
    Technique(
        name="machine_microvm",
        text=Text(
            summary="replaces the emulated PC by QEMU's microvm, with virtio-mmio devices and without a PCI bus",
            mechanism=(
                "There is no chipset, no PCI bus to scan, no PCI interrupt routing in ACPI, no VGA, no "
                "USB, no SATA; the firmware runs few option ROMs, and ACPI describes a handful of "
                "virtio-mmio slots."
            ),
            cost="no PCI devices and no hotplug; kernels whose virtio-mmio driver needs ACPI must keep ACPI",
            risk=Risk.FUNCTION,
            published=(
                none_published(
                    "QEMU's microvm documentation: no official ms figure found; "
                    "rellermeyer/container_benchmarks issue 1"
                ),
            ),
        ),
        change=Change(
            Layer.MACHINE,
            'machine.type = "microvm" (and the virtio_mmio module in the initramfs)',
            _on_microvm,
            _fits_microvm,
        ),
        proof=any_of(fact_is("pci_devices", r"^0\b"), line_vanishes("DMI: QEMU Standard PC")),
        removes=PCI_SEARCH.also(
            "acpi_pci_link_add",
            "early_quirks",
            "early_pci_scan_bus",
            "i8042_init",
            "hpet_late_init",
            "dmi_setup",
            "dmi_init",
            what="the search for PCI buses and devices, and what a chipset has",
            # Fewer option ROMs, a shorter DSDT.
            shortens=("[firmware]", "acpi_init"),
        ),
    ),
    Technique(
        name="machine_pc",
        text=Text(
            summary="replaces the Q35 chipset by the older i440FX",
            mechanism=(
                "The i440FX has no PCI Express: no memory-mapped configuration space to reserve, no root "
                "complex, fewer ACPI interrupt links and methods for the kernel's interpreter to evaluate."
            ),
            cost="no PCI Express devices, no vIOMMU, no IOMMU-protected passthrough",
            risk=Risk.FUNCTION,
            published=(none_published(f"{GARZARELLA_2019}, measured q35 only"),),
        ),
        change=Change(
            Layer.MACHINE,
            'machine.type = "pc", without the options of q35',
            with_machine(type=MachineType.PC, options={}),
            only_on(MachineType.Q35),
        ),
        proof=line_changes(r"DMI: (QEMU Standard PC \([^)]*\))"),
    ),
    Technique(
        name="machine_fewer_devices",
        text=Text(
            summary=(
                "leaves out the chipset's disk controller, SMBus, keyboard controller and other devices nobody uses"
            ),
            mechanism=(
                "Each emulated device is found by firmware and kernel, described by ACPI, sized, given "
                "interrupts, and probed by a built-in driver that waits for answers; without SMM the "
                "firmware need not relocate it."
            ),
            cost=(
                "no SATA disks, PS/2 keyboard, USB devices, SMBus sensors or System Management Mode; on microvm no "
                "legacy timer and interrupt controller"
            ),
            risk=Risk.FUNCTION,
            published=(
                none_published(
                    "QEMU's microvm documentation recommends pit, pic and rtc off; no official ms figure found"
                ),
            ),
        ),
        change=Change(
            Layer.MACHINE,
            'machine.options: sata, smbus, usb, i8042, vmport, smm (q35) or pit, pic (microvm) = "off"',
            _without_devices,
            _has_unused_devices,
        ),
        proof=any_of(
            line_vanishes("serio: i8042 KBD port"),
            line_vanishes("tsc: Fast TSC calibration using PIT"),
            fact_falls("pci_devices"),
        ),
        removes=Removes(
            "probing of devices that nobody uses",
            functions=(
                "i8042_init",
                "ahci_init_one",
                "ata_host_activate",
                "i801_probe",
                "piix4_probe",
                "uhci_hcd_init",
            ),
            shortens=("[firmware]", "acpi_init", "pci_subsys_init"),
        ),
    ),
)
