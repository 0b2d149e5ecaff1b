"""Put the system on the older of QEMU's PCs."""

from bootlab.system import MachineType
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import line_changes
from bootlab.techniques.machine import only_on, with_machine
from bootlab.techniques.technique import Layer, Risk, Source, Technique

TECHNIQUE = Technique(
    name="machine_pc",
    layer=Layer.MACHINE,
    summary="replaces the Q35 chipset by the older i440FX",
    mechanism=(
        "The i440FX has no PCI Express: no memory-mapped configuration space to reserve, no root complex, fewer ACPI "
        "interrupt links and methods for the kernel's interpreter to evaluate."
    ),
    knob='machine.type = "pc", without the options of q35',
    cost="no PCI Express devices, no vIOMMU, no IOMMU-protected passthrough",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, "SG: Stefano Garzarella, 2019-08-23, measured q35 only"),),
    apply=with_machine(type=MachineType.PC, options={}),
    prove=line_changes(r"DMI: (QEMU Standard PC \([^)]*\))"),
    applies=only_on(MachineType.Q35),
)
