"""Build without PCI."""

from bootlab.system import System
from bootlab.techniques.build_options import VENTURA_2024, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.machine import has_pci_devices
from bootlab.techniques.technique import Measured, Removes, Risk, Source


def _needs_no_pci(system: System, measured: Measured) -> str | None:
    if has_pci_devices(system):
        return f"the disks and network of {system.machine.type.value} are PCI devices"
    return None


TECHNIQUE = option_technique(
    name="kernel_pci_off",
    options=off("PCI"),
    summary="builds without the PCI bus and all drivers of its devices",
    mechanism=(
        "Scanning a bus reads the configuration space of 32 slots and sizes every BAR by writing to it; "
        "drivers register by the dozen, and quirks run over every device found."
    ),
    cost="no PCI device works; for machines whose devices sit on virtio-mmio",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}, a part of 35.5 -> 9.1 ms"),),
    applies=_needs_no_pci,
    shows=initcalls_gone("pci_subsys_init", "pci_driver_init"),
    removes=Removes(
        "the search for PCI buses and devices, and drivers of them",
        functions=(
            "pci_arch_init",
            "pci_subsys_init",
            "pcibios_assign_resources",
            "pci_apply_final_quirks",
            "acpi_pci_root_add",
            "pci_driver_init",
            "pcibus_class_init",
            "pci_sysfs_init",
            "pci_proc_init",
            "__pci_register_driver",
            "pci_setup",
            "early_quirks",
            "early_pci_scan_bus",
        ),
    ),
)
