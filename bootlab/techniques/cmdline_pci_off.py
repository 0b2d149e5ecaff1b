"""Do not look for a PCI bus."""

from bootlab.system import System
from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words, x86_only
from bootlab.techniques.evidence import fact_is
from bootlab.techniques.machine import has_pci_devices
from bootlab.techniques.technique import Measured, Removes, Risk, Source


def _needs_no_pci(system: System, measured: Measured) -> str | None:
    if (reason := x86_only(system, measured)) is not None:
        return reason
    if has_pci_devices(system):
        return f"the disks and network of {system.machine.type.value} are PCI devices"
    return None


TECHNIQUE = kernel_words(
    name="cmdline_pci_off",
    words="pci=off",
    summary="does not look for a PCI bus at all",
    mechanism=(
        "Scanning a bus reads the configuration space of 32 slots and sizes every BAR found by writing to it; "
        "each access is trapped by a hypervisor. With the option no host bridge is probed."
    ),
    cost="no PCI device works; for machines whose devices sit on virtio-mmio",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            NONE_PUBLISHED,
            (
                "FC: firecracker-microvm/firecracker 81b38b9, docs (default command line without PCI) and KATA: "
                "kata-containers 01e56a7, qemu_amd64.go (pci=lastbus=0); no isolated figure read"
            ),
        ),
    ),
    prove=fact_is("pci_devices", "^0"),
    applies=_needs_no_pci,
    removes=Removes(
        "the search for PCI buses and devices",
        functions=(
            "pci_arch_init",
            "pci_subsys_init",
            "pcibios_assign_resources",
            "pci_apply_final_quirks",
            "acpi_pci_root_add",
        ),
    ),
)
