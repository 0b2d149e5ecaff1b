"""Build the machine without ACPI tables."""

from bootlab.system import MachineType, System
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import any_of, fact_is, line_vanishes
from bootlab.techniques.machine import has_mmio_devices, only_on, with_options
from bootlab.techniques.technique import Layer, Measured, Risk, Source, Technique

_on_x86 = only_on(MachineType.Q35, MachineType.PC, MachineType.MICROVM)


def _applies(system: System, measured: Measured) -> str | None:
    if (reason := _on_x86(system, measured)) is not None:
        return reason
    if system.machine.options.get("acpi") == "off":
        return "machine.options.acpi is off already"
    if has_mmio_devices(system):
        return "the disks and network of microvm sit on virtio-mmio slots that this kernel finds through ACPI"
    return None


TECHNIQUE = Technique(
    name="machine_no_acpi",
    layer=Layer.MACHINE,
    summary="builds the machine without ACPI tables, so that neither firmware nor kernel reads any",
    mechanism=(
        "QEMU generates no tables, the firmware copies none, and the kernel's interpreter has no name space to load "
        "and no methods to run; on microvm QEMU also takes its smallest firmware then."
    ),
    knob='machine.options.acpi = "off"',
    cost="no soft power-off, no hotplug, no interrupt routing from firmware; other CPUs only through the MP table",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            NONE_PUBLISHED,
            "QEMU's microvm documentation: qboot only with acpi=off; rellermeyer/container_benchmarks issue 1",
        ),
    ),
    apply=with_options({"acpi": "off"}),
    prove=any_of(line_vanishes(r"ACPI: RSDP 0x"), fact_is("acpi", "^no")),
    applies=_applies,
)
