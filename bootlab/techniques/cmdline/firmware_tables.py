"""Tables of the firmware that the kernel need not read: ACPI."""

from bootlab.system import System
from bootlab.techniques.changes.command_line import kernel_words, x86_only
from bootlab.techniques.changes.machine import has_mmio_devices
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import any_of, fact_is, line_appears
from bootlab.techniques.model.published import none_published
from bootlab.techniques.model.subjects import ACPI, APIC_TIMER
from bootlab.techniques.model.technique import Risk, Technique, Text


def _needs_no_acpi(system: System, measured: Measured) -> str | None:
    if (reason := x86_only(system, measured)) is not None:
        return reason
    if system.machine.uses_qboot:
        return "qboot writes no MP table: without ACPI the kernel finds no interrupt routing at all"
    if has_mmio_devices(system):
        return "the disks and network of microvm sit on virtio-mmio slots that this kernel finds through ACPI"
    return None


TECHNIQUES = (
    Technique(
        name="cmdline_acpi_off",
        text=Text(
            summary="boots without ACPI: no tables, no interpreter, no device enumeration through AML",
            mechanism=(
                "acpi_init() loads the DSDT into the interpreter, walks the whole name space and evaluates "
                "methods of every device; PNP, PCI routing and hotplug drivers hang on it. Without it the "
                "kernel uses the MP table and legacy probing."
            ),
            cost=(
                "no soft power-off, no CPU or memory hotplug, no interrupt routing from firmware; "
                "virtio-mmio devices of microvm are not found"
            ),
            risk=Risk.FUNCTION,
            published=(
                none_published("microvm.nix issue 498: breaks Firecracker's PCI mode (MCFG); no isolated figure read"),
            ),
        ),
        change=kernel_words("acpi=off", _needs_no_acpi),
        proof=any_of(fact_is("acpi", "^no"), line_appears("ACPI: Interpreter disabled")),
        removes=ACPI.also(
            # Without ACPI, where there is no MP table either, the kernel finds no interrupt routing and leaves the I/O
            # APIC and the local APIC's timer alone (arch/x86/kernel/smpboot.c, APIC_VIRTUAL_WIRE_NO_CONFIG).
            "setup_IO_APIC",
            *APIC_TIMER.functions,
        ),
    ),
)
